// Two cards of one model are not the same card: what the difference between them adds to the
// uncertainty of a comparison.
#pragma once

#include "baselines/run.h"
#include "baselines/statistics.h"

namespace fusegate {

// The variance of one card's mean logarithm about its model's. Compute-bound kernels carry over in
// cycles better than in time, as cards differ in the clock that they hold under load; memory-bound
// ones carry over in both.
struct BetweenCards {
  VarianceEstimate time;
  VarianceEstimate cycles;
  VarianceEstimate equal_clock;
};

// By the benchmark's arithmetic intensity; where it has no counters "flops" and "min_bytes", the
// larger of both classes.
BetweenCards between_cards(const BenchmarkSeries& series);

// Two cards' worth of it onto the contrast; the degrees of freedom after F. E. Satterthwaite, "An
// approximate distribution of estimates of variance components", Biometrics Bull. 2 (1946), 110-114.
void add_variance(const VarianceEstimate& of_one_card, Contrast& contrast);

}  // namespace fusegate
