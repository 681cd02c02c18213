// The statistics of a whole suite: what noise its benchmarks share, how far the machine moved, and
// what is certain once all of them are tested together.
#pragma once

#include <vector>

#include "baselines/comparing/comparison.h"

namespace fusegate::baselines {

// In the input's order; both pointers and the limits of each are set, and both have processes.
void compare_suite(std::vector<Comparison>& suite, const Circumstances& circumstances,
                   const Rule& rule);

}  // namespace fusegate::baselines
