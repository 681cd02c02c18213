// What a gated unit's backward pass reads and writes.
#pragma once

#include <optional>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// Of h = activation(g) * u and dh, the loss's derivative by h, those by g and u: dg =
// activation'(g)
// * u * dh, du = activation(g) * dh. All of one shape and dtype. dg may be g, du be u, and h be dh.
struct UnitBackward {
  Tensor g, u, dh;
  Tensor dg, du;
  std::optional<Tensor> h = {};  // written too, where there is one
};

}  // namespace fusegate::kernels
