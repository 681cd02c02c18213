// A run: several invocations of the same code on the same machine, as the statistics want it, one
// series a benchmark.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/invocation.h"

namespace fusegate::baselines {

// One benchmark over the invocations of a run. Invocations are the unit of replication.
struct BenchmarkSeries {
  std::string name;
  std::vector<InvocationSummary> invocations;  // those in which it succeeded
  std::string failure;                         // the first failure in any invocation; empty if none
  std::map<std::string, double> counters;      // medians over invocations
  std::map<std::string, std::string> choices;  // of the last invocation
  std::vector<Doubt> doubts;                   // of any invocation, each once
  std::optional<KernelProfile> profile{};      // over the invocations that have one
  std::optional<StageTimes> stage_times{};     // over invocations; where a call was profiled
  // Of the first invocation that launched other than is declared, or else of the last one.
  std::optional<TraceExpectation> expectation{};
  // Of all invocations; nothing where none tells it, unknown where they differ or some do not. Of a
  // benchmark that none tells of, what was found out before anything was measured (identities.h).
  std::optional<CallIdentity> identity{};
  bool is_control = false;  // by all files that have it (DeclaredControls)

  // It did not fail: a run leaves out what does the same work as in the run that it is compared
  // with.
  bool is_unmeasured() const { return invocations.empty() && failure.empty(); }
};

// Run files of processes that did not finish, and whether what they measured counts all the same.
struct UnfinishedProcesses {
  std::vector<std::string> files{};
  bool count = false;
  std::vector<std::string> cut{};  // files that end in the middle, which never count
};

struct Run {
  std::string source;  // what the user named, for messages
  // Names the command that measured all of it, and other runs side by side with it; else empty.
  std::string session;
  Environment environment;
  Provenance provenance;           // of the first invocation, but machines of all
  std::vector<std::string> cards;  // UUIDs, "" where unknown, in the order of the invocations
  // Names for people, "3.json"; of a run of several folders "second/3.json". In the order of the
  // invocations. Empty where nobody numbered them.
  std::vector<std::string> processes;
  std::vector<Doubt> doubts;                // of any invocation, each once
  std::vector<BenchmarkSeries> benchmarks;  // sorted by name
  UnfinishedProcesses unfinished{};
  std::vector<std::string> cut_short{};  // run folders whose measuring did not come to its end
  // What a program chose not to time, and why, by name.
  std::map<std::string, std::string> skipped{};
  // Benchmarks that are not judged, or not by all processes, and why, by name.
  std::map<std::string, std::string> left_out{};
};

// Never empty: a run that was made without naming its cards has the one of its provenance.
std::vector<std::string> cards_of(const Run& run);

// For runs that do not tell: the first invocation of every benchmark is the first process's, and so
// on.
void number_processes(Run& run);

// In environment and protocol, where none may be for the two to be compared.
std::vector<EnvironmentDifference> differences_between(const Run& baseline, const Run& candidate);

// What of the run is not finished, a sentence each: "1 process did not finish and is left out:
// run/5.json". None where all is.
std::vector<std::string> unfinished_texts(const Run& run);

// "66 of 104 benchmarks were not measured; ..."; empty where all were.
std::string unmeasured_text(const Run& run);

// "2 benchmarks were skipped: a, b (too small)"; empty where none was.
std::string skipped_text(const Run& run);

// "2 benchmarks are not judged whole: a (it has aggregates only), b (3 of 5 processes have it)";
// empty where all are.
std::string left_out_text(const Run& run);

// Names of controls, in the run's order. Not of those that were not measured.
std::vector<std::string> controls_of(const Run& run);

// Makes controls of the benchmarks whose names fit a pattern (baselines/io/pattern.h). Throws
// InputError naming what is no pattern.
void name_controls(const std::vector<std::string>& patterns, Run& run);

// Throws InputError naming a pattern that fits no name in any of the runs.
void require_fitting(const std::vector<std::string>& patterns, const std::vector<const Run*>& runs);

// As if no benchmark told what it launches.
Run without_identities(Run run);

}  // namespace fusegate::baselines
