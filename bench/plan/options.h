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
  std::optional<int> ranks;
  nlohmann::json axes = nlohmann::json::object();      // those given, as keys of a sweep
  nlohmann::json problems = nlohmann::json::array();   // those given, a sweep each
  nlohmann::json models{};                             // a sweep of those given (models.h), or null
  nlohmann::json protocol = nlohmann::json::object();  // those given, as keys of a suite's protocol
  std::optional<std::filesystem::path> out;
  int process = 1;
  std::optional<std::uint64_t> seed;
  bool progress = false;     // machine-readable lines instead of Google Benchmark's table
  bool environment = false;  // print the environment and stop
  bool plan = false;         // print what would be measured and the environment, and stop
  bool resume = false;       // complete a run file that lacks benchmarks
  bool force = false;        // replace a file of other content
  std::vector<std::filesystem::path> pin_choices;  // runs, see pinned_choices.h
  bool pin_strictly = false;
  std::optional<std::filesystem::path> trace;     // write a trace here instead of measuring
  std::optional<std::filesystem::path> identify;  // write what is launched here, likewise
  std::optional<int> stuck_after_s;               // see stuck_after()
  int energy_ms = 0;                              // how long each benchmark runs for its energy
  bool profile = true;                // record what each benchmark launches, after measuring
  std::optional<std::string> help{};  // set by --help: print it and stop
  std::vector<std::string> benchmark_flags;
};

// No check, layout or sample of our suites takes as long on a GPU.
inline constexpr std::chrono::seconds kStuckAfter(300);

// A check, layout or sample that takes longer never ends. Nothing on a CPU unless a flag is given:
// there the reference alone takes minutes.
std::optional<std::chrono::seconds> stuck_after(const Options& options,
                                                std::string_view device_kind);

// Throws CLI::Error, which main reports, and InputError. folder: of the suites that --help names.
Options parse_options(int argc, const char* const* argv, const std::filesystem::path& folder = {});

// Where a program finds suites.
struct SuiteSource {
  std::filesystem::path folder = {};  // of named suites; may lack
  nlohmann::json own{};               // measured where the options name none; null: the folder's
  bool is_foreign = false;            // they are another program's: keep_own_operations()
};

// The suite that the options ask for: the one they name; else the models or the problems given;
// else the program's own; else, where axes are given, the reference problem; else the only suite of
// the folder, or "smoke". Flags replace what the file says, except in sweeps of controls alone.
// Throws InputError.
Suite suite_of(const Options& options, const SuiteSource& source);

// Of all suites in the folder that can be read; others are passed over.
std::vector<Sweep> sweeps_in(const std::filesystem::path& folder);

}  // namespace fusegate::bench
