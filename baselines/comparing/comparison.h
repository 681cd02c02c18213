// What the statistics say of one benchmark that both runs have, before it is put into words.
#pragma once

#include <optional>

#include "baselines/comparing/rule.h"
#include "baselines/record/run.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

// How two runs stand to each other.
struct Circumstances {
  bool side_by_side = false;  // measured in turn by one command, in blocks
  bool other_card = false;    // on two cards of one model
  // The regime holds the card at its power limit, where the clock wanders and time with it: cycles
  // alone decide.
  bool cycles_alone = false;
};

Circumstances circumstances_of(const Run& baseline, const Run& candidate);

struct Comparison {
  const BenchmarkSeries* baseline = nullptr;
  const BenchmarkSeries* candidate = nullptr;
  // Of logarithms.
  Contrast time{};
  // Where every invocation of both sides has cycles.
  std::optional<Contrast> cycles{};
  std::optional<Contrast> equal_clock{};  // time at equal clock (clock_share.h)
  double clock_share = 0;
  bool has_single_invocation = false;  // on either side
  bool has_borrowed_noise = false;     // on both, so the noise is that of the suite's others
  bool is_control = false;
  bool is_identical = false;  // both sides did equal work
  bool has_moved = false;     // a control that differs for certain, in time or in cycles
  // Adjusted over the suite. "Time alone", at whatever clock, tells a clock that moved from a
  // kernel that did.
  double p_slower = 1;
  double p_faster = 1;
  double p_slower_in_time_alone = 1;
  double p_faster_in_time_alone = 1;
  // What was measured afresh to confirm a slowdown: how many invocations of the candidate, and the
  // p of "slower" by these alone, not adjusted.
  int confirming_invocations = 0;
  double p_slower_confirmed = 1;

  bool has_estimate() const { return time.degrees_of_freedom > 0; }
  // The one whose effect and interval a verdict states.
  const Contrast& stated(const Circumstances& circumstances) const {
    if (circumstances.cycles_alone && cycles) return *cycles;
    return equal_clock ? *equal_clock : time;
  }
};

// Whether both sides did equal work (call_identity.h). Not where either is unknown.
bool equal_work(const BenchmarkSeries& baseline, const BenchmarkSeries& candidate);

// Whether time and cycles, as estimated, both lie beyond half the smallest effect that matters, in
// the direction (1: slower, -1: faster). Neither has to be certain: that would bring back the
// clock's noise, which time at equal clock is free of. But where one of them shows nothing, either
// the other shows the clock, or the share by which the clock was taken out was wrong.
bool both_show(const Contrast& time, const Contrast& cycles, double direction, const Rule& rule);

// Whether time, at whatever clock, is slower (true) or faster (false) for certain because the clock
// moved: at equal clock or in cycles less than half of the effect is left, or nothing that matters.
// Time may be certain where time at equal clock is not, although the effects are nearly the same,
// because two cards differ by less in time. Then no clock moved.
std::optional<bool> slower_by_the_clock(const Comparison& comparison, const Rule& rule);

}  // namespace fusegate::baselines
