// geglu: out = gelu_tanh(g) * u, all [M, hidden]. gelu_tanh is PyTorch's gelu(approximate="tanh").
#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorShape> inputs(const Problem& p) {
  return {{"g", p.rows(), p.hidden, 3.0}, {"u", p.rows(), p.hidden, 1.0}};
}

void reference(Device& device, const Problem& p, std::span<double* const> in, double* out) {
  device.reference_math().geglu(in[0], in[1], out, p.rows() * p.hidden);
}

const OperationRegistration registered{{
    .name = "geglu",
    .uses_dim = false,
    .inputs = &inputs,
    .output =
        [](const Problem& p) {
          return TensorShape{"out", p.rows(), p.hidden};
        },
    .reference = &reference,
}};

}  // namespace
}  // namespace fusegate::kernels
