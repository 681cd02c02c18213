// What is said of one benchmark that was measured twice. Computed in judge.h; reports format what
// stands here and never decide.
#pragma once

#include <optional>
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
  kIdentical,     // equal work: the same machine code, launches and arguments on both sides, so
                  // that what differs is the machine's, whatever the times say
  kInconclusive,  // none of these can be said with the invocations at hand
  kNew,           // the baseline has no such benchmark
  kMissing,       // the candidate has no such benchmark
  kInvalid,       // it failed, or its results were wrong
};

std::string_view verdict_name(VerdictKind kind);  // "regression", ...

// What stands in the way of calling an inconclusive benchmark.
enum class Obstacle {
  kNone,
  kNoSpread,         // one invocation a side: nothing tells the spread between invocations
  kBorrowedNoise,    // likewise, and the noise shown is that of the suite's other benchmarks
  kSingleBaseline,   // one invocation there, which may be the odd one out
  kSingleCandidate,  // likewise
  kMachineMoved,     // a control that differs all the same
  kTwoModes,         // some processes run it in one of two ways, some in the other
  kSlowerMode,       // likewise, and more of the candidate's in the slower one than by chance alone
  kMachineUnknown,  // against stored figures, and too few benchmarks tell what the machine did
  kAmongOthers,  // slower or faster, but the other side was measured among other benchmarks
  kSuiteMoved,     // most rows of its kind moved too, and nothing tells whether the machine did it
  kFewProcesses,   // slower or faster, but fewer than four on a side, and not confirmed
  kFewInBaseline,  // likewise of a baseline to which nothing can be added
  kNotConfirmed,   // all invocations together say slower or faster, the fresh ones alone do not
  kClockSaysSlower,  // time is slower for certain, and that is the clock's doing
  kClockSaysFaster,  // likewise
  kDisagreement,     // slower or faster at equal clock, but time and cycles do not both show it
  kControlsMoved,    // slower or faster, but not by more than controls moved
  kNotCertain,   // the interval lies beyond what matters; over the whole suite that may be chance
  kCardsDiffer,  // the interval is too wide, as the runs come from two cards
  kTooWide,      // the interval is too wide
};

// What a verdict goes by.
enum class Quantity {
  kTime,        // where both sides were measured side by side, and where either has no cycles
  kEqualClock,  // time at equal clock (clock_share.h): against stored figures
  kCycles,      // where the regime holds both sides at the power limit, and on a CPU
};

std::string_view quantity_name(Quantity quantity);  // "time", "equal_clock", "cycles"

// The library picked something else, such as an algorithm.
struct ChoiceChange {
  std::string name;
  std::string before;
  std::string after;
};

// A benchmark whose processes fall into two heaps (two_clusters.h): the time of either, the geometric
// mean of both sides, and how many processes of each side lie there.
struct Modes {
  struct Heap {
    double time_ns = 0;
    int baseline = 0;
    int candidate = 0;
  };
  Heap lower;
  Heap upper;
  // Of as many of the candidate's processes in the slower one, were both sides alike: Fisher's exact
  // test, one-sided. R. A. Fisher, "Statistical methods for research workers", 5th ed. (1934),
  // section 21.02.
  double p_slower = 1;
  double p_slower_confirmed = 1;  // by what was measured afresh alone; p_slower where nothing was
};

struct Verdict {
  std::string benchmark;
  VerdictKind kind = VerdictKind::kInconclusive;
  Quantity decided_by = Quantity::kTime;
  // Candidate over baseline, minus one, of the quantity that decides. NaN where there is none.
  // Where equal work tells what the machine did, that is taken out, of the interval and the other
  // effects too; but for equal work itself, whose effect is what the machine did.
  double effect = 0;
  Interval interval;              // of effect; NaN where it cannot be had
  double effect_time = 0;         // at whatever clock either side ran
  double effect_equal_clock = 0;  // NaN where either side has no cycles
  double effect_cycles = 0;       // likewise
  double machine_effect = 0;      // what was taken out of effect; NaN where that is not known
  // The largest slowdown that the data still allow, one-sided, with the probability of the false
  // discovery rate beyond it: 0.02 where it is slower by 2 % at most. 0 for equal work, NaN where
  // nothing can be said.
  double ruled_out = 0;
  double clock_share = 0;  // by which time goes with the clock; NaN likewise
  double baseline_ns = 0;  // geometric mean over invocations; NaN where there is none
  double candidate_ns = 0;
  double p = 1;  // of "slower" (or "faster", where effect < 0), adjusted
  // The effect that is found with 90 % probability at this noise where a tenth of the suite (at
  // least one benchmark) is slower by as much: a kernel that got slower shows in several shapes.
  // NaN likewise.
  double smallest_detectable = 0;
  int baseline_invocations = 0;
  int candidate_invocations = 0;
  int confirming_invocations = 0;  // of the candidate's: measured afresh, as it was not decided
  int compared_in_baseline = 0;    // invocations; fewer where other cards' are left out
  int compared_in_candidate = 0;
  bool is_control = false;     // by the baseline: no change touches its code
  bool slower_mode = false;    // a regression because more processes take the slower of two modes
  bool machine_moved = false;  // a control that differs all the same
  // Time differs for certain, time at equal clock does not. Of a regression: measured side by side,
  // where a lower clock is the code's doing, as it draws more power.
  bool clock_moved = false;
  double suite_moved = 0;  // as most rows of its kind did, where that may be the machine's doing
  double controls_moved =
      0;  // the effect's way, by which an effect must exceed what matters besides
  double baseline_energy_j = 0;  // of a call; NaN where either side does not know it
  double candidate_energy_j = 0;
  Obstacle obstacle = Obstacle::kNone;
  // Undecided, and more processes decide nothing: what a machine may do to a single benchmark between
  // two sessions is more than what matters, and than the noise of processes.
  bool machine_hides_it = false;
  std::optional<Modes> modes;  // nothing of controls and equal work, whatever they do
  std::vector<ChoiceChange> choice_changes;
  std::string failure;               // why it failed or a side lacks it; may be empty
  bool failed_in_candidate = false;  // or else in the baseline
  std::vector<Doubt> doubts;         // of either side
};

// A regression or an improvement, or what would be one but that too few processes of a side
// measured it. Of all others their own kind.
VerdictKind first_sight(const Verdict& verdict);

}  // namespace fusegate::baselines
