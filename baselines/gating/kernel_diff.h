// Why a benchmark's time changed, or what changed though its time did not: the kernels that it
// launched before and after (kernel_profile.h). It explains a verdict and never makes one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"
#include "baselines/gating/kernel_pairs.h"
#include "baselines/gating/launch_changes.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

enum class KernelCause {
  kNothing,      // the same kernels, and no verdict that asks for a cause
  kLaunches,     // more or fewer kernels or memory operations
  kOtherKernel,  // another kernel in a kernel's place
  kGaps,  // the same kernels with more (or less) time around them, or to launch them: the host
  kSameKernels,  // the same kernels, slower or faster themselves
  kClock,        // the same kernels at another clock
  kOtherWork,    // time changed, by other code, launches or arguments, and no profile shows how
  kUnexplained,  // time changed, and the profiled calls show less than half of that
  kNoProfile,    // time changed, and a side has no profile
};

std::string_view cause_name(KernelCause kind);  // "same_kernels", ...

// One quantity on both sides. NaN where there is none.
struct BeforeAfter {
  double before = 0;
  double after = 0;
  double change() const { return after - before; }
};

struct KernelDiff {
  std::string benchmark;
  KernelCause kind = KernelCause::kNothing;
  // Of the verdict that it explains.
  VerdictKind verdict = VerdictKind::kInconclusive;
  Estimates estimates;
  BeforeAfter time_ns;
  bool has_profiles = false;
  std::vector<KernelPair> pairs;  // in the order of both sides
  BeforeAfter gaps_ns;            // between kernels, in sum: medians over processes
  BeforeAfter leads_ns;           // from the call's begin to the first work of the GPU
  // By more than the smallest effect that matters; Student's t over processes, at the rule's
  // rate over the number of benchmarks (Bonferroni).
  bool gaps_moved = false;
  bool leads_moved = false;
  BeforeAfter memory_ns;
  BeforeAfter memory_operations;
  BeforeAfter host_ns;  // of a call, from the counters
  // It doubled or halved. Runs on H200s (pr and nightly at a45025c and 82e256d, whose host code is
  // the same) differed by up to 1.4 times (five processes a side, 104 benchmarks) and 1.9 times
  // (two a side, 344); single processes by up to 2.4 times.
  bool host_moved = false;

  // What of its code, launches and arguments differs (call_identity.h); nothing where a side has no
  // identity.
  std::vector<LaunchChange> work_changes;
  bool order_changed = false;  // which launch waits for which
  std::string work_unknown;    // why that is not known; empty where it is

  bool work_changed() const { return !work_changes.empty() || order_changed; }

  // Other kernels, or more or fewer of them or of memory operations. Not where the code is
  // identical, whatever its kernels are called.
  bool launches_changed() const;
};

struct ExplainOptions {
  Rule rule{};
  std::size_t suite_size = 1;  // how many benchmarks are explained
  // The sides were measured on different cards, and so on different hosts or at different hours:
  // when these launch a call's kernels is then no change. Where a time changed, it may say why.
  bool other_card = false;
};

// Null sides are those that a run lacks.
KernelDiff explain(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate,
                   const Verdict& verdict, const ExplainOptions& options);

// Those of the verdicts' benchmarks in which something changed and a profile, or the clock,
// explains it; in the verdicts' order.
std::vector<KernelDiff> explain_all(const Run& baseline, const Run& candidate,
                                    const std::vector<Verdict>& verdicts, const Rule& rule);

}  // namespace fusegate::baselines
