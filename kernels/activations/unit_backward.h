// What a gated unit's backward pass reads and writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// Of h = activation(g) * u and dh, the loss's derivative by h, those by g and u:
//
//   dg = activation'(g) * u * dh,   du = activation(g) * dh
//
// All of one shape and dtype. dg may be g, du be u, and h be dh.
struct UnitBackward {
  Tensor g, u, dh;
  Tensor dg, du;
  std::optional<Tensor> h = {};  // written too, where there is one
  // Elements from a row of g and u, and of dg and du, to the next one, where that is more than a
  // row has, as where both lie side by side.
  std::int64_t in_stride = 0, out_stride = 0;

  bool is_contiguous() const { return std::max(in_stride, out_stride) <= g.cols(); }
};

}  // namespace fusegate::kernels
