// The gated units, one for each activation: out = activation(g) * u, all [M, hidden]. geglu's is
// PyTorch's gelu(approximate="tanh").
#include "kernels/activations/activations.h"
#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorShape> inputs(const Problem& p) {
  return {{"g", p.rows(), p.hidden, 3.0}, {"u", p.rows(), p.hidden, 1.0}};
}

const OperationRegistration registered(kActivations, [](const Activation& activation) -> Operation {
  return {
      .name = std::string(activation.unit),
      .uses_dim = false,
      .inputs = &inputs,
      .output =
          [](const Problem& p) {
            return TensorShape{"out", p.rows(), p.hidden};
          },
      .reference =
          [activation](Device& device, const Problem& p, std::span<double* const> in, double* out) {
            device.reference_math().gate(activation, in[0], in[1], out, p.rows() * p.hidden);
          },
  };
});

}  // namespace
}  // namespace fusegate::kernels
