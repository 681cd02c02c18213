// The benchmarks of a run as a table: how long it takes, what rates that is, how far from its
// yardstick and from either rate, and what bounds it.
#pragma once

#include <vector>

#include "ci/console/table.h"
#include "ci/figures/benchmark_figures.h"
#include "ci/figures/yardstick.h"

namespace fusegate::ci {

// The benchmark's name comes first, what went wrong last. Columns that nothing is known for are
// left out: yardsticks and shares, where `rates` tell none, and what a call costs the host, where
// that was not recorded.
Table figures_table(const std::vector<BenchmarkFigures>& figures, const MeasuredRates& rates);

}  // namespace fusegate::ci
