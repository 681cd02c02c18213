// How a kernel's time went with the SM clock over the samples of one process: what a share is
// fitted from across processes (baselines/comparing/clock_share.h).
#pragma once

#include <vector>

namespace fusegate::baselines {

// Sums of squares and products of the logarithms' deviations from their means.
struct ClockFit {
  double time_squares = 0;
  double clock_squares = 0;
  double products = 0;
  double degrees_of_freedom = 0;  // 0: nothing is known
};

// times_ns and cycles: of the samples of one process, of one length, positive. Samples that no
// share explains were disturbed by something else and are left out. Those at another clock stay, as
// they show the most: in one of a hundred an H200's clock was 5 to 25 % lower.
ClockFit fit_clock(const std::vector<double>& times_ns, const std::vector<double>& cycles);

}  // namespace fusegate::baselines
