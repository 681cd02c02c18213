// One process as another tool's file has it: names, samples and clocks, not yet summarised. Missing
// values are empty.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fusegate::baselines {

struct ForeignBenchmark {
  std::string name;
  std::vector<double> times_ns{};   // of a call, one a sample
  std::vector<double> clocks_hz{};  // as many, or none where no clock is known
  std::string failure{};
  std::map<std::string, double> counters{};  // as run files name them
};

struct ForeignFile {
  std::map<std::string, nlohmann::json> environment{};  // named as in a run file
  nlohmann::json protocol = nlohmann::json::object();   // by the names below
  std::string commit{};
  bool dirty = false;
  std::string toolchain{};
  std::string date{};
  std::string host{};
  std::vector<ForeignBenchmark> benchmarks{};    // names unique
  std::map<std::string, std::string> skipped{};  // why, by name
  bool lacks_clocks = false;                     // of a GPU, where the tool records them
};

inline constexpr double kSecondNs = 1e9;

inline constexpr const char* kTool = "tool";
inline constexpr const char* kTimer = "timer";
// Whether the tool's file has samples, or only means. The two are not comparable, so a file that
// mixes them is refused.
inline constexpr const char* kFigures = "figures";
inline constexpr const char* kSamples = "samples";
inline constexpr const char* kMean = "mean";

}  // namespace fusegate::baselines
