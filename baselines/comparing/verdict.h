// The one place where a verdict is computed. Reports format what stands here and never decide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/record/run.h"
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

// What the gate is told to care about.
struct Rule {
  double min_effect = 0.003;           // smallest effect that matters, 0.003 = 0.3 %
  double false_discovery_rate = 0.01;  // over the whole suite
  double confidence = 0.95;            // of the interval
};

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
  // What interval and kind come from, of logarithms; without degrees of freedom where there is
  // none.
  Contrast log_time;
  Contrast log_cycles;
  Contrast log_equal_clock;
  int baseline_invocations = 0;
  int candidate_invocations = 0;
  int confirming_invocations = 0;  // of the candidate's: measured afresh, as it was not decided
  bool is_control = false;         // its code is the same on both sides
  bool machine_moved = false;      // a control that differs all the same
  bool clock_moved = false;        // time differs for certain, time at equal clock does not
  std::string reason;              // one sentence for people: why this verdict
  std::vector<Doubt> doubts;       // of either side
};

// Every benchmark of either run, sorted by name. Throws InputError for a rule that is none: a
// negative effect, a rate or confidence outside of (0, 1).
//
// Of each invocation only its fast half's mean enters (statistics.h). Per benchmark the candidate's
// mean logarithm of time at equal clock (clock_share.h) less the baseline's is tested against
// log(1 + min_effect) (TREAT) with a variance moderated over the suite (moderated_contrasts.h), and
// both time and cycles must show it (both_show()). Where either side has no cycles, time decides
// alone; where both were measured in the sustained regime, cycles do. Benjamini-Hochberg runs over
// the suite, once for slower and once for faster. Where a side has a single invocation the verdict
// is inconclusive, whatever the estimate.
//
// Runs of one session are compared block by block (two_sides.h). Between two cards the difference
// of cards adds to the noise (between_cards.h). Where controls moved, the effect must exceed their
// movement too (drift.h), and a control itself is never a regression. Where the candidate has
// invocations that were measured afresh because the benchmark was not decided, these alone must
// show a slowdown again, at 5 %, for a regression to be called.
std::vector<Verdict> judge(const Run& baseline, const Run& candidate, const Rule& rule);

}  // namespace fusegate::baselines
