// The command line of fusegate_bench. Google Benchmark's own flags, --benchmark_*, are passed on.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/plan/suite.h"

namespace fusegate::bench {

struct Options {
  std::optional<std::string> suite;
  std::string device = "auto";
  nlohmann::json axes = nlohmann::json::object();      // those given, as a sweep would name them
  nlohmann::json problems = nlohmann::json::array();   // those given, a sweep each
  nlohmann::json protocol = nlohmann::json::object();  // those given, as a suite would name them
  std::optional<std::filesystem::path> out;
  int invocation = 1;
  std::optional<std::uint64_t> seed;
  bool progress = false;     // machine-readable lines instead of Google Benchmark's table
  bool environment = false;  // print the environment and stop
  bool plan = false;         // print what would be measured and the environment, and stop
  bool resume = false;       // go on with a run file that lacks benchmarks
  bool force = false;        // replace one of other content
  std::vector<std::filesystem::path> keep_choices;  // runs, see kept_choices.h
  bool keep_strictly = false;
  std::optional<std::filesystem::path> trace;     // write a trace here instead of measuring
  std::optional<std::filesystem::path> identify;  // write what is launched here, likewise
  std::optional<int> stuck_after_s;               // what takes longer never ends
  int energy_ms = 0;                              // for which a benchmark is run for its energy
  bool profile = true;                // record what each benchmark launches, after measuring
  std::optional<std::string> help{};  // asked for, to be printed and nothing else; else nothing
  std::vector<std::string> benchmark_flags;
};

// Longer than any check, place or sample of the suites takes on a GPU.
inline constexpr std::chrono::seconds kStuckAfter(300);

// When a benchmark counts as one that never ends: nothing on a CPU that no flag says it for, where
// the reference alone takes minutes.
std::optional<std::chrono::seconds> stuck_after(const Options& options,
                                                std::string_view device_kind);

// Throws CLI::Error, which main reports, and InputError for values that no flag's type excludes.
// folder: of the suites that --help names.
Options parse_options(int argc, const char* const* argv, const std::filesystem::path& folder = {});

// The suite that the options ask for: the named one, the problems given, "smoke" where nothing is
// named (or the only one that there is), or the reference problem where axes are given and no
// suite. Flags replace what the file says, except in sweeps that hold only controls. folder: where
// named suites lie. Throws InputError.
Suite suite_of(const Options& options, const std::filesystem::path& folder);

}  // namespace fusegate::bench
