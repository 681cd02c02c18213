// Which of several launches was taken (autotune.h).
#pragma once

#include <cstddef>
#include <limits>

namespace fusegate::kernels {

struct TakenLaunch {
  std::size_t index = 0;  // among the candidates
  // By how much of its time the fastest of the others is slower. Negative where that one is faster,
  // which a tie and a pinned choice allow; NaN where there was no other, or nothing was measured.
  double ahead = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace fusegate::kernels
