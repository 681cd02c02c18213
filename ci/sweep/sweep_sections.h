// The shape sweep as sections of a report: where fusion wins, where it stops paying, and what
// bounds each benchmark, with their pictures.
#pragma once

#include <optional>
#include <vector>

#include "ci/document/document.h"
#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/crossover.h"
#include "ci/sweep/roofline_time.h"
#include "ci/sweep/shape_sweep.h"

namespace fusegate::ci {

Section sweep_section(const std::vector<ShapeSweep>& sweeps);

Section crossover_section(const std::vector<Crossover>& crossovers);

// A roofline a dtype; empty where no benchmark's work is known.
Section roofline_section(const std::vector<BenchmarkFigures>& figures, const MeasuredRates& rates);

// The speed-ups over M of the sweep with most implementations. Nothing where there are no
// speed-ups, or of one size alone.
std::optional<LinePicture> main_picture(const std::vector<ShapeSweep>& sweeps);

}  // namespace fusegate::ci
