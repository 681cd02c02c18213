// The three quantities in which two runs are compared: time, cycles, and time at equal clock. What
// belongs to each lies in places of its own, which this names.
#pragma once

#include "baselines/comparing/between_cards.h"
#include "baselines/comparing/comparison.h"
#include "baselines/comparing/drift.h"

namespace fusegate::baselines {

struct Quantity {
  double (*share)(const Comparison&);  // for log_at_share()
  const Contrast& (*contrast)(const Comparison&);
  VarianceEstimate BetweenCards::*cards;
  Shift Drift::*shift;
};

inline constexpr Quantity kTime{[](const Comparison&) { return 0.0; },
                                [](const Comparison& c) -> const Contrast& { return c.time; },
                                &BetweenCards::time, &Drift::time};
inline constexpr Quantity kCycles{[](const Comparison&) { return 1.0; },
                                  [](const Comparison& c) -> const Contrast& { return *c.cycles; },
                                  &BetweenCards::cycles, &Drift::cycles};
inline constexpr Quantity kEqualClock{
    [](const Comparison& c) { return c.clock_share; },
    [](const Comparison& c) -> const Contrast& { return *c.equal_clock; },
    &BetweenCards::equal_clock, &Drift::equal_clock};

// p of an effect in the direction (1: slower, -1: faster) beyond the smallest that matters and what
// the machine moved by.
double p_beyond(Contrast contrast, double direction, const Shift& shift, const Rule& rule);

// The one that decides. have_cycles: of all that is compared.
inline const Quantity& deciding_quantity(bool have_cycles, const Circumstances& circumstances) {
  if (!have_cycles) return kTime;
  return circumstances.cycles_alone ? kCycles : kEqualClock;
}

}  // namespace fusegate::baselines
