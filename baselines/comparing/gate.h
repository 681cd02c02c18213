// The run's verdicts folded into an exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/comparing/creep.h"
#include "baselines/comparing/families.h"
#include "baselines/comparing/kernel_story.h"
#include "baselines/comparing/rule.h"
#include "baselines/comparing/staleness.h"
#include "baselines/comparing/verdict.h"
#include "baselines/io/exit_code.h"
#include "baselines/record/baseline.h"

namespace fusegate::baselines {

struct GateOptions {
  Rule rule;
  bool allow_environment_differences = false;
  bool strict = false;  // missing and inconclusive benchmarks mean "could not judge"
  double max_age_days = kDefaultMaxAgeDays;  // of a stored baseline; older ones are noted
  std::optional<double> max_creep;           // since the anchor, 0.02 = 2 %; more is a regression
  bool fail_on_changed_kernels = false;      // whatever time says
};

// A benchmark of the candidate that launches something other than its implementation declares.
struct UnmetExpectation {
  std::string benchmark;
  TraceExpectation expectation;
};

// Sorted by name, as the run's benchmarks are.
std::vector<UnmetExpectation> unmet_expectations(const Run& run);

// What the gate weighs, in this order.
enum class GateCause {
  kEnvironmentDiffers,  // so nothing was compared
  kSlower,
  kInvalid,
  kNoBenchmark,     // neither run has any
  kNoInvocations,   // no benchmark has two invocations on each side
  kUndecided,       // strict, and not every benchmark was decided
  kNothingDecided,  // and not strict
  kNoRegression,
  kOtherLaunches,   // than are declared
  kOtherKernels,    // asked for
  kKernelsUnknown,  // likewise, and a run has no profiles
  kCrept,           // by more than is allowed since the anchor
};

struct GateResult {
  ExitCode exit_code = ExitCode::kCouldNotJudge;
  // What the exit code comes from: the first one of the verdicts, then what outweighed it or was
  // found beside it.
  std::vector<GateCause> causes;
  std::vector<EnvironmentDifference> environment_differences;
  std::vector<Verdict> verdicts;                     // sorted by name
  std::vector<Family> families;                      // the slowest first
  std::vector<UnmetExpectation> unmet_expectations;  // sorted by name
  std::vector<KernelStory> stories;                  // of what changed and why; sorted by name
  std::optional<Staleness> staleness;                // of a stored baseline
  std::optional<Creep> creep;                        // where there is an anchor to tell it by
};

// Regression, or changed kernels where these are to fail, or a benchmark of the candidate that does
// not launch what its implementation declares (whatever the baseline launched: the code and its
// declaration are one change's): 1. Else, where any benchmark is invalid, where the environments
// differ and that was not allowed (no verdict is computed then), or where nothing at all could be
// judged: 2. Else 0.
GateResult gate(const Run& baseline, const Run& candidate, const GateOptions& options);

// The same and, where the baseline is a stored one, whether it is stale, and what crept since its
// anchor. Creep beyond options.max_creep is a regression: 1.
GateResult gate(const LoadedBaseline& baseline, const Run& candidate, const GateOptions& options);

}  // namespace fusegate::baselines
