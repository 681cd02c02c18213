// A run: several processes of the same code on the same machine, with one series per benchmark.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baselines/record/process.h"

namespace fusegate::baselines {

// One benchmark over the processes of a run. Processes are the unit of replication.
struct BenchmarkSeries {
  std::string name;
  std::vector<ProcessSummary> processes;       // those in which it succeeded
  std::string failure;                         // the first failure in any process; empty if none
  std::map<std::string, double> counters;      // medians over processes
  std::map<std::string, std::string> choices;  // of the last process
  std::vector<Warning> warnings;               // of any process, each once
  std::optional<KernelProfile> profile{};      // over the processes that have one
  std::optional<StageTimes> stage_times{};     // over processes, where a call was profiled
  // Of the first process that did not meet it, else of the last one.
  std::optional<TraceExpectation> expectation{};
  // Common to all processes; unknown where they differ or some have none, nothing where all have
  // none. Of an unmeasured benchmark, the identity that was recorded before measuring
  // (identities.h).
  std::optional<CallIdentity> identity{};
  bool is_control = false;  // in all files that have it (DeclaredControls)

  // Left out of the run because its code is identical to that of the run it is compared with.
  bool is_unmeasured() const { return processes.empty() && failure.empty(); }
};

// Run files of processes that did not finish, and whether their benchmarks count.
struct UnfinishedProcesses {
  std::vector<std::string> files{};
  bool count = false;
  std::vector<std::string> cut{};  // files that end in the middle, which never count
};

struct Run {
  std::string source;  // the user's name of it, for messages
  // The same for all runs that one command measured side by side; else empty.
  std::string session;
  Environment environment;
  Provenance provenance;           // of the first process, but the machines of all
  std::vector<std::string> cards;  // UUIDs, "" where unknown, in the order of the processes
  // The processes' names, "3.json", or "second/3.json" in a run of several folders, in their order.
  // Empty before number_processes().
  std::vector<std::string> process_names;
  std::vector<Warning> warnings;            // of any process, each once
  std::vector<BenchmarkSeries> benchmarks;  // sorted by name
  UnfinishedProcesses unfinished{};
  bool is_stored_baseline = false;  // read from a stored baseline's file, not from run files
  // What the run folder's own record has of A/A comparisons, and that record's path; of a single
  // folder.
  std::optional<std::pair<std::string, nlohmann::json>> aa_record{};
  std::vector<std::string> cut_short{};  // run folders that `fusegate run` did not finish
  // Benchmarks that the program skipped, by name, with its reason.
  std::map<std::string, std::string> skipped{};
  // Benchmarks that are not judged, or not from all processes, by name, with the reason. A stored
  // baseline keeps them.
  std::map<std::string, std::string> left_out{};
  ComparedWith compared_with{};
  OperationsAcrossRanks across_ranks{};
};

// What the run's suite sets for a benchmark.
BenchmarkSettings settings_of(const Run& run, std::string_view benchmark);

// Never empty: without named cards, the card of its provenance.
std::vector<std::string> cards_of(const Run& run);

// For runs without numbered processes: the first times of all benchmarks are of the first process,
// and so on.
void number_processes(Run& run);

// By card, how many processes the benchmark has that has most of them. Without controls, of which
// every shard has a process where a card measured a suite in parts.
std::map<int, int> processes_by_card(const Run& run);

// In environment and protocol. Only runs without differences are compared.
std::vector<EnvironmentDifference> differences_between(const Run& baseline, const Run& candidate);

// "1 process did not finish and is left out: run/5.json", and the like; none where all finished.
std::vector<std::string> unfinished_texts(const Run& run);

// "66 of 104 benchmarks were not measured; ..."; empty where all were.
std::string unmeasured_text(const Run& run);

// "2 benchmarks were skipped: a, b (too small)"; empty where none was.
std::string skipped_text(const Run& run);

// "2 benchmarks are not judged, or not from all processes: a (it has aggregates only), b (3 of 5
// processes have it)"; empty where all are.
std::string left_out_text(const Run& run);

// Names of the measured controls, in the run's order.
std::vector<std::string> controls_of(const Run& run);

// Makes controls of the benchmarks whose names match a pattern (baselines/io/pattern.h). Throws
// InputError naming a bad pattern.
void name_controls(const std::vector<std::string>& patterns, Run& run);

// Throws InputError naming a pattern that matches no benchmark of the runs.
void require_fitting(const std::vector<std::string>& patterns, const std::vector<const Run*>& runs);

// The run without what its benchmarks launch.
Run without_identities(Run run);

}  // namespace fusegate::baselines
