// The run's verdicts folded into an exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/comparing/host_times.h"
#include "baselines/comparing/outlier_processes.h"
#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"
#include "baselines/gating/accepted.h"
#include "baselines/gating/creep.h"
#include "baselines/gating/families.h"
#include "baselines/gating/kernel_diff.h"
#include "baselines/gating/memory_growth.h"
#include "baselines/gating/staleness.h"
#include "baselines/io/error.h"
#include "baselines/record/baseline.h"

namespace fusegate::baselines {

// What is asked of the gate, whatever the baseline's suite says.
struct GateSwitches {
  bool allow_environment_differences = false;
  bool strict = false;  // what is missing, inconclusive or left out means "could not judge"
  double max_age_days = kDefaultMaxAgeDays;  // of a stored baseline; older ones are noted
  std::optional<double> max_creep;           // since the anchor, 0.02 = 2 %; more is a regression
  bool fail_on_changed_kernels = false;      // whatever time says
  bool fail_on_host = false;                 // where launching takes longer
  // A slowdown that the data must rule out in every benchmark, 0.02 = 2 %; else "could not judge".
  std::optional<double> require_ruled_out;
};

struct GateOptions : GateSwitches {
  Rule rule;
  // A slowdown that may stay undecided, 0.02 = 2 %: where a benchmark is not decided, its data must
  // rule out larger ones.
  double allow = 0.05;
  // What benchmarks have apart: min_effect and allow of these stand in for the ones above. And by
  // the baseline's suite, to say where that differs.
  Settings settings{};
  Settings former_settings{};
  std::vector<AcceptedSlowdown> accepted{};
  std::string filter{};  // a pattern of those that are judged; "": all
};

// A benchmark of the candidate that launches something other than its implementation declares.
struct UnmetExpectation {
  std::string benchmark;
  TraceExpectation expectation;
};

// Sorted by name, as the run's benchmarks are.
std::vector<UnmetExpectation> unmet_expectations(const Run& run);

// What a side has and the judgement leaves out, wholly or in part: a benchmark, or the file of a
// process that did not finish.
struct LeftOut {
  std::string_view side;  // "baseline", "candidate"
  std::string what;
  std::string why;
};

// What the gate weighs, in this order.
enum class GateCause {
  kEnvironmentDiffers,  // so nothing was compared
  kSlower,
  kInvalid,
  kNoBenchmark,  // neither run has any
  kNoProcesses,  // no benchmark has two processes on each side
  kUnconfirmed,  // looks slower, and is not called
  kUndecided,    // strict, and not every benchmark was decided
  kLeftOut,      // strict, and something is left out
  kNotRuledOut,  // undecided, and the data allow a slowdown above GateOptions::allow
  kNoRegression,
  kAcceptanceExpired,  // of a slowdown that nobody sees any more
  kTooLittleRuledOut,  // asked for
  kOtherLaunches,      // than are declared
  kMoreMemory,         // than the baseline takes, by more than is allowed
  kOtherKernels,       // asked for
  kKernelsUnknown,     // likewise, and a run has no profiles
  kHostSlower,         // asked for: launching takes longer
  kHostUnconfirmed,    // likewise: it looks so, and is not called
  kHostUnknown,        // likewise, and no benchmark has a host time on both sides
  kCrept,              // by more than is allowed since the anchor
};

// A regression that nobody accepts.
bool is_slower(const Verdict& verdict);

// Whether it was decided: by its times, or because the code is identical.
bool is_decided(const Verdict& verdict);

// Whether a change of the code can have slowed it: the baseline has it, and it is neither a control
// nor identical code.
bool can_be_slower(const Verdict& verdict);

// Whether fewer than half of those that can be slower were decided. Then "no regression" is no pass
// that anybody should be shown, whatever the exit code.
bool is_mostly_undecided(const std::vector<Verdict>& verdicts);

// Verdicts whose data allow a slowdown beyond the limit, the largest first, then those of which
// nothing can be said. New, missing, failed and slower ones are other matters.
std::vector<const Verdict*> too_little_ruled_out(const std::vector<Verdict>& verdicts,
                                                 double limit);

// What a verdict's own settings allow, or else the suite: no less than what matters of it, nor than
// what is accepted.
double allowed(const Verdict& verdict, double allow);

// Undecided ones that a change can have slowed and whose data allow a slowdown beyond what is
// allowed(); likewise.
std::vector<const Verdict*> not_ruled_out(const std::vector<Verdict>& verdicts, double allow);

struct GateResult {
  ExitCode exit_code = ExitCode::kCouldNotJudge;
  // What the exit code comes from: the first one of the verdicts, then what outweighed it or was
  // found beside it.
  std::vector<GateCause> causes;
  std::vector<EnvironmentDifference> environment_differences;
  std::vector<Verdict> verdicts;                     // sorted by name
  std::size_t benchmarks = 0;                        // of either run, judged or filtered out
  std::vector<Family> families;                      // the slowest first
  std::vector<UnmetExpectation> unmet_expectations;  // sorted by name
  std::vector<MemoryGrowth> memory_growth;           // likewise
  std::vector<LeftOut> left_out;                     // the baseline's first
  std::vector<Outlier> outliers_in_baseline;         // by card and deviation
  std::vector<Outlier> outliers_in_candidate;
  HostTimes host;                        // what launching costs the host
  std::vector<KernelDiff> kernel_diffs;  // of what changed and why; sorted by name
  AcceptedReview accepted;               // entries that are to go
  std::optional<Staleness> staleness;    // of a stored baseline
  std::optional<Creep> creep;            // where there is an anchor
};

// 1 where anything regressed and is not accepted, or kernels changed or host times got longer where
// that is to fail, or a benchmark of the candidate does not launch what its implementation declares
// (whatever the baseline launched: the code and its declaration are one change's), or it takes or
// keeps more memory than the baseline by more than allowed(). 0 only where
// every benchmark that a change can have slowed is decided or cannot be slower by more than
// GateOptions::allow, and none looks slower. Else 2: also where any benchmark is invalid, where an
// accepted slowdown expired, where host times that are to fail are unknown or look longer, and
// where the environments differ and that was not allowed (no verdict is computed then).
GateResult gate(const Run& baseline, const Run& candidate, const GateOptions& options);

// The same and, where the baseline is a stored one, whether it is stale, and what crept since its
// anchor. Creep beyond options.max_creep is a regression: 1.
GateResult gate(const LoadedBaseline& baseline, const Run& candidate, const GateOptions& options);

}  // namespace fusegate::baselines
