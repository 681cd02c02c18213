// The differences between two runs, benchmark by benchmark, with standard errors that borrow
// strength from the whole suite. One call handles one quantity, time or cycles: their noise
// differs.
#pragma once

#include <vector>

#include "baselines/statistics/statistics.h"
#include "baselines/statistics/two_sides.h"

namespace fusegate::baselines {

struct ModeratedContrast {
  Contrast contrast;
  VarianceEstimate variance;  // of one process, moderated over the suite
};

// In the input's order; effects are the candidate's less the baseline's. No degrees of freedom
// where neither the benchmark nor the suite shows the spread between processes.
// Blocks pair the sides' values, unless the suite's benchmarks rule out together that pairing pays.
std::vector<ModeratedContrast> moderated_contrasts(const std::vector<TwoSides>& suite);

}  // namespace fusegate::baselines
