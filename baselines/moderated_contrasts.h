// The differences between two runs, benchmark by benchmark, with standard errors that borrow
// strength from the whole suite. One call handles one quantity, time or cycles: their noise
// differs.
#pragma once

#include <vector>

#include "baselines/statistics.h"

namespace fusegate {

// Logarithms of one benchmark's per-invocation medians. Neither side is empty.
struct TwoSides {
  std::vector<double> baseline;
  std::vector<double> candidate;
};

// In the input's order. effect: mean of candidate less mean of baseline. standard_error:
// sqrt(v (1/nb + 1/nc)) with v the moderated within-run variance. No degrees of freedom where
// neither the benchmark nor the suite tells anything about the spread between invocations.
std::vector<Contrast> moderated_contrasts(const std::vector<TwoSides>& suite);

}  // namespace fusegate
