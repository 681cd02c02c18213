// The size of a product out [m, n] = x [m, k] w [n, k]^T.
#pragma once

#include <cstdint>

namespace fusegate::kernels {

struct GemmSize {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

}  // namespace fusegate::kernels
