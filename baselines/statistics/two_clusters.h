// Whether values fall into two heaps, as those of a kernel do that runs in one of two ways: where
// memory was laid out, which of two clocks a chip took.
#pragma once

#include <optional>
#include <vector>

namespace fusegate::baselines {

// Values above the boundary are the upper heap's.
struct TwoHeaps {
  double boundary = 0;
};

// By the widest gap between neighbours. It must be wider than least_gap and than six times the
// standard deviation within the heaps, times n / (n - 2), as few values know that badly: of ten
// values of a single normal heap fewer than 1 in 1,000 seem to be two, of four 1 in 100. The
// smaller heap must have two values: a single one is an outlier, which says nothing of a second
// heap.
std::optional<TwoHeaps> two_heaps(std::vector<double> values, double least_gap);

}  // namespace fusegate::baselines
