// How far the processes of a card spread, benchmark by benchmark and by class.
#pragma once

#include <vector>

#include "baselines/calibration/calibration.h"

namespace fusegate::baselines {

// Values that are not finite are passed over.
Quantiles quantiles_of(const std::vector<double>& values);

// In the cards' order, without what needs draws. Spreads are NaN where no card has two processes.
std::vector<BenchmarkCalibration> benchmark_spreads(const std::vector<Run>& cards);

// classes: of each benchmark, in the same order.
PerClass<ClassSpread> class_spreads(const std::vector<BenchmarkCalibration>& benchmarks,
                                    const std::vector<DurationClass>& classes);

}  // namespace fusegate::baselines
