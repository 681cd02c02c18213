// Two cards of one model differ. This says how much that adds to the uncertainty of a comparison.
#pragma once

#include "baselines/record/run.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

// The variance of the difference between two cards' mean logarithms. Cards differ in the clock that
// they hold under load, which compute-bound kernels feel in time and less in cycles; at equal
// clock, short kernels and those whose data just fits the L2 differ by more than long ones.
struct BetweenCards {
  VarianceEstimate time;
  VarianceEstimate cycles;
  VarianceEstimate equal_clock;
};

// By the benchmark's arithmetic intensity and duration; compute-bound where it has no counters
// "flops" and "min_bytes".
BetweenCards between_cards(const BenchmarkSeries& series);

}  // namespace fusegate::baselines
