// linear: out = x w^T + bias, as torch.nn.Linear. x [M, dim], w [hidden, dim], bias [hidden].
#include <cmath>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorShape> inputs(const Problem& p) {
  // torch.nn.Linear draws weight and bias from U(-1/sqrt(in), 1/sqrt(in)).
  const double bound = 1 / std::sqrt(static_cast<double>(p.dim));
  return {{"x", p.rows(), p.dim, 1.0}, {"w", p.hidden, p.dim, bound}, {"bias", 1, p.hidden, bound}};
}

void reference(Device& device, const Problem& p, std::span<double* const> in, double* out) {
  device.reference_math().matmul(in[0], in[1], out, p.rows(), p.hidden, p.dim);
  device.reference_math().add_bias(out, in[2], p.rows(), p.hidden);
}

const OperationRegistration registered{{
    .name = "linear",
    .inputs = &inputs,
    .output =
        [](const Problem& p) {
          return TensorShape{"out", p.rows(), p.hidden};
        },
    .reference = &reference,
}};

}  // namespace
}  // namespace fusegate::kernels
