// control_gemm: out = x w^T. x [M, dim], w [hidden, dim]. A control that lives on arithmetic. Both
// are random, as every other operation's are: a control is to meet the power limit as they do.
#include <cmath>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorShape> inputs(const Problem& p) {
  return {{"x", p.rows(), p.dim, 1.0},
          {"w", p.hidden, p.dim, 1 / std::sqrt(static_cast<double>(p.dim))}};
}

void reference(Device& device, const Problem& p, std::span<double* const> in, double* out) {
  device.reference_math().matmul(in[0], in[1], out, p.rows(), p.hidden, p.dim);
}

const OperationRegistration registered{{
    .name = "control_gemm",
    .is_control = true,
    .inputs = &inputs,
    .output =
        [](const Problem& p) {
          return TensorShape{"out", p.rows(), p.hidden};
        },
    .reference = &reference,
}};

}  // namespace
}  // namespace fusegate::kernels
