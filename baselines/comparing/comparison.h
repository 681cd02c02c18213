// The statistics of one benchmark that both runs have.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/run.h"
#include "baselines/statistics/common_movement.h"
#include "baselines/statistics/null_distribution.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

inline constexpr int kNotCompared = -1;

// What the comparison of two runs has to mind.
struct Circumstances {
  // Measured in turn by one command, in blocks: then a lower clock is the code's doing, and time
  // decides.
  bool side_by_side = false;
  bool other_card = false;  // no card of one model was measured on both sides
  // The number of each card of either run, as a card of both has one number. Where any is of both,
  // only these are compared: the numbers of all others are kNotCompared.
  std::vector<int> baseline_cards{0};
  std::vector<int> candidate_cards{0};
  // Cycles alone decide: where the regime holds the card at its power limit, the clock wanders and
  // time with it; on a CPU, time is also that of whatever else runs there.
  bool cycles_alone = false;
  // Cycles are the calling thread's. A kernel that waits shows in time alone.
  bool on_cpu = false;
  // Two sessions of a GPU measured less than nine tenths of the same benchmarks. What a process
  // measures besides moves a benchmark of the same code by up to half a percent
  // (docs/how-it-measures.md, "What is left").
  bool among_others = false;
};

Circumstances circumstances_of(const Run& baseline, const Run& candidate);

// How far the machine moved, as logarithms, zero or positive each.
struct Shift {
  double slower = 0;
  double faster = 0;

  double in_direction(double direction) const { return direction > 0 ? slower : faster; }
};

// A side's processes that are compared, and how many of them were measured afresh because the
// benchmark was not decided.
struct ComparedProcesses {
  int all = 0;
  int fresh = 0;

  // Too few to call a change by, as no fresh ones confirm what they show.
  bool are_few() const { return all < kFewestProcesses && fresh < kFewestConfirming; }
};

struct Comparison {
  const BenchmarkSeries* baseline = nullptr;
  const BenchmarkSeries* candidate = nullptr;
  Limits limits{};
  bool is_asked = true;  // else it shows what the machine did, and is not judged
  // Of logarithms.
  Contrast time{};
  // Where every process of both sides has cycles.
  std::optional<Contrast> cycles{};
  std::optional<Contrast> equal_clock{};  // time at equal clock (clock_share.h)
  double clock_share = 0;
  Quantity decides = Quantity::kTime;
  ComparedProcesses of_baseline{};
  ComparedProcesses of_candidate{};
  VarianceEstimate noise{};         // of one process, in the quantity that decides
  bool has_single_process = false;  // on either side
  bool has_borrowed_noise = false;  // on both, so the noise is that of the suite's others
  bool is_control = false;
  bool is_identical = false;  // both sides have the same code
  int group = 0;              // of benchmarks that a machine treats alike (machine_groups())
  // Where its processes fall into two clusters. Where both sides have two in either, the clusters
  // are compared like with like: what lies between them is taken out of the upper one.
  std::optional<Modes> modes{};
  double modes_boundary = 0;  // between them: a logarithm, in the quantity that decides
  bool has_moved = false;     // a control that differs for certain, in time or in cycles
  // Adjusted over the suite. "Time alone", at whatever clock, parts a clock that moved from a
  // kernel that did.
  double p_slower = 1;
  double p_faster = 1;
  double p_slower_mode =
      1;  // over the bimodal ones: that the candidate takes the slower one as often
  double p_slower_in_time_alone = 1;
  double p_faster_in_time_alone = 1;
  // Against stored figures of the same card: how most rows of its kind moved, where that may be the
  // machine's doing, and how single rows did. And the smaller p if what is shared is not the
  // machine's: adjusted, too.
  std::optional<CommonMovement> common{};
  double p_by_itself = 1;
  // The p of "slower" and "faster" by what was measured afresh alone, not adjusted.
  double p_slower_confirmed = 1;
  double p_faster_confirmed = 1;
  // What benchmarks of identical code show of the machine, in the quantity that decides; taken out
  // already.
  std::optional<Movement> machine{};
  bool machine_is_known = false;  // of many such benchmarks: how far it moves single ones, too
  Shift controls_moved{};  // in the quantity that decides, where identical code is too little

  bool has_comparable_modes() const {
    return modes && std::min({modes->lower.baseline, modes->lower.candidate, modes->upper.baseline,
                              modes->upper.candidate}) >= 2;
  }
  bool lacks_processes() const { return of_baseline.are_few() || of_candidate.are_few(); }
  bool has_estimate() const { return time.degrees_of_freedom > 0; }
  // Nobody's change can have slowed it.
  bool is_unchangeable() const { return is_control || is_identical; }
  // null where a side has no such figures
  const Contrast* contrast(Quantity quantity) const;
  // Of the quantity that decides.
  const Contrast& stated() const { return cycles ? *contrast(decides) : time; }
  // By which share of the clock a quantity's logarithm is taken (log_at_share()).
  double share_of(Quantity quantity) const {
    if (quantity == Quantity::kEqualClock) return clock_share;
    return quantity == Quantity::kCycles ? 1 : 0;
  }
};

// NaN where it has none.
double counter_of(const BenchmarkSeries& series, const std::string& name);
// FLOPs a byte, by the counters flops and min_bytes.
std::optional<double> intensity_of(const BenchmarkSeries& series);

// Whether all of its processes have an identity, and the same.
bool code_is_known(const BenchmarkSeries& series);
// Whether both sides have the same code (call_identity.h). Not where either is unknown.
bool identical_code(const BenchmarkSeries& baseline, const BenchmarkSeries& candidate);

// Whether time and cycles, as estimated, both lie beyond half the smallest effect that matters, in
// the direction (1: slower, -1: faster). Neither has to be certain: that would bring back the
// clock's noise, which time at equal clock is free of. But where one of them shows nothing, either
// the other shows the clock, or the share by which the clock was taken out was wrong.
bool both_show(const Contrast& time, const Contrast& cycles, double direction, double min_effect);

// Whether time, at whatever clock, is slower (true) or faster (false) for certain because the clock
// moved: at equal clock or in cycles less than half of the effect is left, or nothing that matters.
// Time may be certain where time at equal clock is not, although the effects are nearly the same,
// because two cards differ by less in time. Then no clock moved.
std::optional<bool> slower_by_the_clock(const Comparison& comparison, double false_discovery_rate);

}  // namespace fusegate::baselines
