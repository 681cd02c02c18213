// The operands of h [rows, hidden] = activation(x w_gate^T) * (x w_up^T): x [rows, dim], w_gate and
// w_up [hidden, dim].
#pragma once

#include "kernels/contract/device.h"

namespace fusegate::kernels {

struct GatedOperands {
  Tensor x, w_gate, w_up, h;
};

}  // namespace fusegate::kernels
