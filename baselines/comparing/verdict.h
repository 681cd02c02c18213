// What is said of one benchmark that was measured twice: the decision, the estimates and the
// reason. judge.h computes it; reports format it and never decide.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/io/settings.h"
#include "baselines/launches/choice.h"
#include "baselines/record/warning.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

enum class VerdictKind {
  kRegression,    // slower by more than the smallest effect that matters
  kImprovement,   // faster likewise
  kUnchanged,     // the interval lies within the smallest effect that matters; nor did the clock
                  // make time differ
  kIdentical,     // the same machine code, launches and arguments on both sides, so that what
                  // differs is the machine's, whatever the times are
  kInconclusive,  // none of these can be said with the processes at hand
  kNew,           // the baseline has no such benchmark
  kMissing,       // the candidate has no such benchmark
  kInvalid,       // it failed, or its results were wrong
};

std::string_view verdict_name(VerdictKind kind);  // "regression", ...; in the enum's order

// Why an inconclusive benchmark is one.
enum class Obstacle {
  kNone,
  kNotMeasured,      // its run left it out: Run::left_out says why
  kNoSpread,         // one process a side: the spread between processes is unknown
  kBorrowedNoise,    // likewise, and the noise shown is that of the suite's other benchmarks
  kSingleBaseline,   // the baseline has one process, which may be an outlier
  kSingleCandidate,  // likewise
  kMachineMoved,     // a control that differs all the same
  kTwoModes,         // bimodal: its processes fall into two clusters
  kSlowerMode,       // likewise, with more of the candidate's in the slower one, perhaps by chance
  kMachineUnknown,   // against stored figures, and too few benchmarks show what the machine did
  kAmongOthers,      // slower or faster, but the other side was co-measured with other benchmarks
  kSuiteMoved,       // most similar benchmarks changed too: it may be the machine
  kFewProcesses,     // slower or faster, but fewer than four on a side, and not confirmed
  kFewInBaseline,    // likewise of a stored baseline, to which no process can be added
  kNotConfirmed,     // all processes together show a change, the fresh ones alone do not
  kClockSaysSlower,  // time is slower for certain, and the clock explains it
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

inline constexpr std::array kQuantities{Quantity::kTime, Quantity::kEqualClock, Quantity::kCycles};

std::string_view quantity_name(Quantity quantity);  // "time", "equal_clock", "cycles"

// A bimodal benchmark: its processes fall into two clusters (two_clusters.h).
struct Modes {
  struct Cluster {
    double time_ns = 0;  // geometric mean over both sides' processes
    int baseline = 0;    // processes of either side
    int candidate = 0;
  };
  Cluster lower;
  Cluster upper;
  // The probability of as many of the candidate's processes in the slower cluster, were both sides
  // alike: Fisher's exact test, one-sided. R. A. Fisher, "Statistical methods for research
  // workers", 5th ed. (1934), section 21.02.
  double p_slower = 1;
  double p_slower_confirmed = 1;  // by the fresh processes alone; p_slower where there are none
};

// Effects are candidate over baseline, minus one. NaN where there is none.
struct Estimates {
  // Of the quantity that decides. Where benchmarks of identical code show what the machine did,
  // that is taken out of it, of the interval and of the three effects below; but for identical code
  // itself, whose effect is what the machine did.
  double effect = 0;
  Interval interval{};        // of effect
  double in_time = 0;         // at whatever clock either side ran
  double at_equal_clock = 0;  // NaN where either side has no cycles
  double in_cycles = 0;       // likewise
  double clock_share = 0;     // by which time goes with the clock; likewise
  double machine = 0;         // what was taken out; NaN where that is not known
  double common = 0;          // of most similar benchmarks, where that may be the machine's doing
  double controls = 0;        // of controls: the effect must exceed it too
  double p = 1;               // of "slower" (or "faster", where effect < 0), adjusted
  // The largest slowdown that the data still allow, one-sided, with the probability of the false
  // discovery rate beyond it: 0.02 where it is slower by 2 % at most. 0 for identical code, NaN
  // where it cannot be had.
  double ruled_out = 0;
  // The effect that is found with 90 % probability at this noise where a tenth of the suite (at
  // least one benchmark) is slower by as much: a kernel that got slower shows in several shapes.
  double smallest_detectable = 0;
};

// Why the verdict is what it is.
struct Reason {
  Obstacle obstacle = Obstacle::kNone;
  std::optional<Modes> modes{};  // none for controls and identical code, whatever they do
  bool slower_mode = false;      // a regression as more processes take the slower of two clusters
  bool machine_moved = false;    // a control that differs all the same
  // Time differs for certain, time at equal clock does not. Of a regression: measured side by side,
  // where a lower clock is the code's doing, as it draws more power.
  bool clock_moved = false;
  // More processes cannot decide it: what a machine may do to a single benchmark between two
  // sessions is more than what matters, and than the noise of processes.
  bool machine_hides_it = false;
  std::vector<ChoiceChange> choice_changes{};
  std::string failure{};             // why it failed, or a side lacks or left it out; may be empty
  bool failed_in_candidate = false;  // or else in the baseline
};

// A benchmark on one side.
struct VerdictSide {
  double time_ns = 0;   // geometric mean over processes; NaN where there is none
  double energy_j = 0;  // of a call; NaN where either side does not know it
  int processes = 0;
  int compared = 0;    // of these: without those of cards that the other side lacks
  int confirming = 0;  // of the candidate's: measured afresh, as the benchmark was undecided
};

// A slowdown that somebody answers for, for a while (gating/accepted.h).
struct AcceptedSlowdown {
  std::string pattern;  // of the benchmarks' names (baselines/io/pattern.h)
  Interval effect{};    // 0.01 to 0.04 = slower by 1 to 4 %
  std::string reason;
  std::string who;
  std::string until;   // the last day on which it counts, "2026-12-31"
  std::string link{};  // empty where there is none
};

enum class AcceptedState { kCovers, kOutgrown, kExpired };

struct Verdict {
  std::string benchmark;
  VerdictKind kind = VerdictKind::kInconclusive;
  Quantity decided_by = Quantity::kTime;
  bool is_control = false;       // by the baseline: no change touches its code
  BenchmarkSettings settings{};  // its own, by which it was judged
  Estimates estimates;
  Reason reason;
  VerdictSide baseline;
  VerdictSide candidate;
  std::vector<Warning> warnings;  // of either side
  // Of a regression, and of what is undecided: the entry that fits, and what it is worth.
  std::optional<AcceptedSlowdown> accepted{};
  AcceptedState accepted_state = AcceptedState::kCovers;

  bool is_accepted() const { return accepted && accepted_state == AcceptedState::kCovers; }
};

// A regression or an improvement, or what would be one but that too few processes of a side
// measured it. Of all others their own kind.
VerdictKind first_sight(const Verdict& verdict);

// Whether it is undecided, and lies beyond the smallest effect that matters all the same: too few
// processes measured it, or controls moved too, or over the whole suite it may be chance. A gate
// that let it pass would let pass what it has seen. Not where it is accepted.
bool looks_slower(const Verdict& verdict);

}  // namespace fusegate::baselines
