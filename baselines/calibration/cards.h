// How far cards of one model differ: what is left between their means once the noise of the means
// is taken off.
#pragma once

#include <optional>
#include <vector>

#include "baselines/calibration/calibration.h"

namespace fusegate::baselines {

// The variance between groups, in the one-way random model: (mean square between - mean square
// within) / n0, with n0 = (N - sum n_i^2 / N) / (groups - 1), which is n where all groups have n
// values. May be negative, and must stay so until it has been averaged: flooring each estimate
// first would bias the average upwards. NaN below two groups, without degrees of freedom within, or
// for values that are not finite. S. R. Searle, G. Casella, C. E. McCulloch, "Variance components"
// (1992), section 3.6.
double between_groups_variance(const std::vector<std::vector<double>>& groups);

// The 95 % interval of a true standard deviation, in multiples of one that was estimated with so
// many degrees of freedom from normal values: sqrt(d / chi-square quantiles).
Interval deviation_factors(double degrees_of_freedom);

enum class Bound { kCompute, kMemory };

// By arithmetic intensity: 100 FLOP a byte and more counts as compute-bound, which is somewhat
// below where an H200 balances (690 to 790 TFLOP/s over 4.32 TB/s as measured: 160 to 180). Nothing
// where the counters flops and min_bytes are missing.
std::optional<Bound> bound_of(const BenchmarkSeries& series);

// Nothing for a single card. classes: of each benchmark of the pool, in its order.
std::optional<BetweenCard> between_card(const CalibrationPool& pool,
                                        const std::vector<DurationClass>& classes);

}  // namespace fusegate::baselines
