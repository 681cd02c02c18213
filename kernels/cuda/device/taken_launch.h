// Which of several launches was taken (autotune.h).
#pragma once

#include <cstddef>
#include <limits>

namespace fusegate::kernels {

struct TakenLaunch {
  std::size_t index = 0;  // among the candidates
  // How much slower the fastest of the others is, as a share of this one's time. Negative where
  // that one is faster, which a tie and a pinned choice allow; NaN where there was no other, or
  // nothing was measured.
  double ahead = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace fusegate::kernels
