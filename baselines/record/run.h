// A run: several invocations of the same code on the same machine, as the statistics want it, one
// series a benchmark. It comes from a run folder, from run files, or from a stored baseline.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/run_file.h"

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
};

struct Run {
  std::string source;  // what the user named, for messages
  // Names the command that measured all of it, and other runs side by side with it; else empty.
  std::string session;
  Environment environment;
  Provenance provenance;                    // of the first invocation
  std::vector<Doubt> doubts;                // of any invocation, each once
  std::vector<BenchmarkSeries> benchmarks;  // sorted by name
};

// In environment and protocol, where none may be for the two to be compared.
std::vector<EnvironmentDifference> differences_between(const Run& baseline, const Run& candidate);

// paths: run folders (every *.json in it but run.json, fusegate's own record of the run) and run
// files; several make one run. A folder's run.json tells blocks and extensions. Files are read on
// all cores. A stored baseline file is a run too. Throws InputError: no invocation at all,
// unreadable files, invocations whose environments differ.
Run load_run(const std::vector<std::filesystem::path>& paths);

// The files that load_run() reads for them, in the order of the invocations; it throws alike for
// folders that cannot be read and for a file named twice.
std::vector<std::filesystem::path> run_files(const std::vector<std::filesystem::path>& paths);

}  // namespace fusegate::baselines
