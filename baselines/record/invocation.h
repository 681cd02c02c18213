// What one invocation measured, as its run file tells it (run_file.h).
#pragma once

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/launches/call_identity.h"
#include "baselines/launches/expectation.h"
#include "baselines/launches/kernel_profile.h"
#include "baselines/launches/stage_times.h"
#include "baselines/record/doubt.h"
#include "baselines/record/environment.h"
#include "baselines/statistics/clock_fit.h"

namespace fusegate::baselines {

inline constexpr int kRunFileSchemaVersion = 1;
// In the details of a benchmark's first entry: a number, which is read as a counter.
inline constexpr std::string_view kEnergyPerCall = "energy_per_call_j";
// Counters of an entry, and of a stored benchmark a list beside its times: what a call costs the
// host, launched on a stream and as one graph.
inline constexpr const char* kHostNs = "host_ns";
inline constexpr const char* kHostGraphNs = "host_graph_ns";

// Where a run came from; none of it must match between two runs.
struct Provenance {
  std::string commit;  // empty where unknown
  bool dirty = false;
  std::string toolchain{};  // a line that names what built it; empty in older files
  std::string fusegate{};   // the version of the library that measured; empty in older files
  std::string date;         // ISO 8601, as Google Benchmark writes it
  // Of several machines all names, and all models: "a, b". The model is empty in older files.
  std::string host;
  std::string cpu{};
  std::string device_uuid;
  std::string suite;        // empty for a run that no suite named
  nlohmann::json protocol;  // as the benchmark program recorded it; null for plain files
  // What else a plain file's context says, by its own keys. What differs is told.
  Environment context{};
};

// One benchmark in one invocation: what its samples come to.
struct InvocationSummary {
  // Each the mean of the samples' fast half (statistics.h), per call.
  double time_ns = 0;  // NaN where there is no sample
  double cycles = 0;   // time x SM clock; NaN where any sample has no clock
  double spread = 0;   // median absolute deviation of time over its median
  int samples = 0;
  // Of a run in which several arms were measured side by side: which round this was, counted from
  // 1. Values of one block are close in time and compared with each other. 0: no block.
  int block = 0;
  int card = 0;     // on which it was measured: index into Run::cards
  int process = 0;  // that measured it: index into Run::processes
  // Measured afresh after the rest, because the benchmark was undecided or looked slower.
  bool extension = false;
  ClockFit clock_fit{};
  // Of one call, on a stream and as one graph; NaN where it was not measured.
  double host_ns = std::numeric_limits<double>::quiet_NaN();
  double host_graph_ns = std::numeric_limits<double>::quiet_NaN();
};

// Names of the benchmarks that are controls: their code is the driver's or a library's, and no
// change touches it, so that where one differs between two runs, the machine does. The program that
// measured tells them, by "controls" of its file, empty where there are none. Nothing in older
// files and in those of other programs, none of whose benchmarks is one unless somebody names it.
using DeclaredControls = std::optional<std::set<std::string, std::less<>>>;

struct BenchmarkResult {
  std::string name;
  InvocationSummary summary;
  std::string failure;                         // not empty: it threw, or its results were wrong
  std::map<std::string, double> counters;      // medians over samples
  std::map<std::string, std::string> choices;  // what the library picked, such as an algorithm
  std::vector<Doubt> doubts;
  std::optional<KernelProfile> profile{};         // of one call
  std::optional<StageTimes> stage_times{};        // where a call was profiled
  std::optional<TraceExpectation> expectation{};  // where one is declared and a call was profiled
  std::optional<CallIdentity> identity{};         // where the program tells it
  bool is_control = false;                        // see DeclaredControls
};

struct RunFile {
  bool finished = true;  // false of a process that was ended early, or still runs
  Environment environment;
  Provenance provenance;
  std::vector<Doubt> doubts;
  std::vector<BenchmarkResult> benchmarks;       // in file order, names unique
  std::map<std::string, std::string> skipped{};  // what the program chose not to time, and why
  // Benchmarks of which it has no sample, or not all of them, and why.
  std::map<std::string, std::string> left_out{};
  DeclaredControls controls{};  // by which benchmarks were marked
  // Of all that the process measured and says of itself: two files with the same one are copies.
  std::size_t fingerprint = 0;
};

}  // namespace fusegate::baselines
