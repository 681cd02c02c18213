// The benchmarks of a run as a table: time, rates, roofline time, gap, and what bounds each.
#pragma once

#include <vector>

#include "ci/console/table.h"
#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/roofline_time.h"

namespace fusegate::ci {

// The benchmark's name comes first, its failure last. A column without a known value is left out:
// roofline times and shares need `rates`, host times need a recorded host cost.
Table figures_table(const std::vector<BenchmarkFigures>& figures, const MeasuredRates& rates);

}  // namespace fusegate::ci
