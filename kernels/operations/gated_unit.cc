// The gated units, one for each activation: out = activation(g) * u, all [M, hidden]. geglu's is
// PyTorch's gelu(approximate="tanh").
#include "kernels/activations/activations.h"
#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorSpec> inputs(const LadderProblem& p) {
  return {{"g", {p.rows(), p.hidden}, Fill::uniform(3)}, {"u", {p.rows(), p.hidden}}};
}

std::vector<TensorSpec> outputs(const LadderProblem& p) { return {{"out", {p.rows(), p.hidden}}}; }

const OperationRegistration registered(kActivations, [](const Activation& activation) -> Operation {
  return {
      .name = std::string(activation.unit),
      .axes = ladder_axes(),
      .unswept_axes = {"dim"},
      .compared_with = "unfused",
      .inputs = &inputs,
      .outputs = &outputs,
      .reference =
          [activation](Device& device, const LadderProblem& p, std::span<double* const> in,
                       double* out) {
            device.reference_math().gate(activation, in[0], in[1], out, p.rows() * p.hidden);
          },
  };
});

}  // namespace
}  // namespace fusegate::kernels
