// The backward passes of the gated units: dg = activation'(g) * u * dh and du = activation(g) * dh,
// all [M, hidden].
#include "kernels/activations/activations.h"
#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorSpec> inputs(const LadderProblem& p) {
  const std::vector<std::int64_t> shape{p.rows(), p.hidden};
  return {{"g", shape, Fill::uniform(3)}, {"u", shape}, {"dh", shape}};
}

std::vector<TensorSpec> outputs(const LadderProblem& p) {
  return {{"dg", {p.rows(), p.hidden}}, {"du", {p.rows(), p.hidden}}};
}

const OperationRegistration registered(kActivations, [](const Activation& activation) -> Operation {
  return {
      .name = activation.backward(),
      .axes = ladder_axes(),
      .unswept_axes = {"dim"},
      .compared_with = "unfused",
      .inputs = &inputs,
      .outputs = &outputs,
      .reference =
          [activation](Device& device, const LadderProblem& p, std::span<double* const> in,
                       const OneOrMore<double*>& out) {
            device.reference_math().gate_backward(
                activation, {.g = in[0], .u = in[1], .dh = in[2], .dg = out[0], .du = out[1]},
                p.rows() * p.hidden);
          },
  };
});

}  // namespace
}  // namespace fusegate::kernels
