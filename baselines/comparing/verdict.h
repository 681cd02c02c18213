// What is said of one benchmark that was measured twice. Computed in judge.h; reports format what
// stands here and never decide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/record/doubt.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

enum class VerdictKind {
  kRegression,    // slower by more than the smallest effect that matters
  kImprovement,   // faster likewise
  kUnchanged,     // the interval lies within the smallest effect that matters; nor did the clock
                  // make time differ
  kInconclusive,  // none of these can be said with the invocations at hand
  kNew,           // the baseline has no such benchmark
  kMissing,       // the candidate has no such benchmark
  kInvalid,       // it failed, or its results were wrong
};

std::string_view verdict_name(VerdictKind kind);  // "regression", ...

struct Verdict {
  std::string benchmark;
  VerdictKind kind = VerdictKind::kInconclusive;
  // Candidate over baseline, minus one: of time at equal clock (clock_share.h); of time where
  // either side has no cycles, of cycles where they alone decide. NaN where there is none.
  double effect = 0;
  Interval interval;         // of effect; NaN where it cannot be had
  double effect_time = 0;    // at whatever clock either side ran
  double effect_cycles = 0;  // NaN where either side has no cycles
  double clock_share = 0;    // by which time goes with the clock; NaN likewise
  double baseline_ns = 0;    // geometric mean over invocations; NaN where there is none
  double candidate_ns = 0;
  double p = 1;  // of "slower" (or "faster", where effect < 0), adjusted
  // The effect that is found with 90 % probability at this noise where a tenth of the suite (at
  // least one benchmark) is slower by as much: a kernel that got slower shows in several shapes.
  // NaN likewise.
  double smallest_detectable = 0;
  int baseline_invocations = 0;
  int candidate_invocations = 0;
  int confirming_invocations = 0;  // of the candidate's: measured afresh, as it was not decided
  bool is_control = false;         // its code is the same on both sides
  bool machine_moved = false;      // a control that differs all the same
  bool clock_moved = false;        // time differs for certain, time at equal clock does not
  std::string reason;              // one sentence for people: why this verdict
  std::vector<Doubt> doubts;       // of either side
};

}  // namespace fusegate::baselines
