// What a gated unit's forward pass reads and writes that keeps g and u for the backward pass.
#pragma once

#include <cstdint>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// g = x w_gate^T, u = x w_up^T and h = activation(g) * u: x [m, dim], w_gate and w_up [hidden,
// dim], the others [m, hidden].
struct KeptUnit {
  Tensor x, w_gate, w_up;
  Tensor g, u, h;
  // Elements from a row of g and u to the next one, where that is more than a row has, as where
  // both lie side by side.
  std::int64_t stride = 0;
};

}  // namespace fusegate::kernels
