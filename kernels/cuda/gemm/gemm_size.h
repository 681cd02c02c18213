// The size of a product out [m, n] = x [m, k] w [n, k]^T, and of a gated one, h [m, n] =
// activation(x w_gate^T) * (x w_up^T).
#pragma once

#include <cstdint>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

struct GemmSize {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

inline GemmSize gemm_size(const Tensor& x, const Tensor& out) {
  return {.m = out.rows(), .n = out.cols(), .k = x.cols()};
}

}  // namespace fusegate::kernels
