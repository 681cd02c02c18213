// What a contest among launches came to (launch_contest.h).
#pragma once

#include <cstddef>
#include <limits>

namespace fusegate::kernels {

struct TakenLaunch {
  std::size_t place = 0;  // among those that competed
  // By how much of its time the fastest of the others is slower: below 0 where that one is faster,
  // which a tie and a kept choice allow. NaN where there was no other, or nothing was measured.
  double ahead = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace fusegate::kernels
