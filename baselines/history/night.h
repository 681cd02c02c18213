// What a history keeps of a session: one night of nightly CI, or another run that was added to it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fusegate::baselines {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Natural logarithm of candidate over baseline, of a mean over processes.
struct LogEffect {
  double value = kUnknown;
  double variance = kUnknown;  // of value, by the spread of processes
};

// One benchmark in a session. Numbers that are not known are NaN.
struct NightBenchmark {
  std::string name;
  std::string operation{};       // "" for benchmarks of other tools
  std::string implementation{};  // likewise
  bool is_control = false;
  int processes = 0;                   // in which it succeeded
  double log_equal_clock = kUnknown;   // mean over processes of log(ns at the common clock)
  double process_variance = kUnknown;  // of one process's log(ns at the common clock)
  double ns = kUnknown;                // median over processes
  double cycles = kUnknown;
  double energy_j = kUnknown;  // a call
  double host_ns = kUnknown;   // what a call costs the host
  // Of kernels, launches and arguments: equal for identical code. "" where it is not known.
  std::string identity{};
  // What it launches, in order: "name|hash of machine code".
  std::vector<std::string> kernels{};
  std::map<std::string, std::string> choices{};  // by stage
  // Against the replay, where one was measured beside it.
  std::optional<LogEffect> over_replay{};
  // The common clock that log_equal_clock is at, the same in all nights of a device, and by which
  // share of it the time went: log_equal_clock = mean log(ns) + clock_share * (mean log(cycles /
  // ns)
  // - log(clock_ghz)). NaN where no clock is known: then log_equal_clock is of time alone.
  double clock_ghz = kUnknown;
  double clock_share = 0;
};

struct Night {
  std::string session{};  // unique
  std::int64_t unix_s = 0;  // when it was measured
  std::string commit{};     // "" where the run does not know it
  std::string parent{};     // the commit before it, where known
  std::string device{};     // "NVIDIA H200"
  std::string card{};       // UUID
  std::string machine{};    // host name
  std::string driver{};
  std::string cuda{};
  std::string cublas{};
  std::string program{};  // hash of its file
  std::string suite{};
  std::string method{};    // hash of the protocol, but for the gate's settings
  std::string replayed{};  // commit of the program that the replay ran; "" without a replay
  std::vector<NightBenchmark> benchmarks{};  // sorted by name
};

}  // namespace fusegate::baselines
