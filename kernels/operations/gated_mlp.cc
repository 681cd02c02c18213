// The gated MLPs, one for each activation: out = (activation(x w_gate^T) * (x w_up^T)) w_down^T, no
// bias.
// x [M, dim], w_gate and w_up [hidden, dim], w_down [dim, hidden], out [M, dim].
#include "kernels/operations/gated_mlp.h"

#include <cmath>

#include "kernels/activations/activations.h"
#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorSpec> outputs(const LadderProblem& p) { return {{"out", {p.rows(), p.dim}}}; }

}  // namespace

std::vector<TensorSpec> gated_mlp_inputs(const LadderProblem& p) {
  // torch.nn.Linear's initial weights. x is wider, so that g leaves the activation's linear part
  // and a wrong activation is found.
  const auto weight = [](const char* name, std::int64_t out, std::int64_t in) {
    return TensorSpec{.name = name,
                      .shape = {out, in},
                      .fill = Fill::uniform(1 / std::sqrt(static_cast<double>(in))),
                      .is_weight = true};
  };
  return {{"x", {p.rows(), p.dim}, Fill::uniform(4)},
          weight("w_gate", p.hidden, p.dim),
          weight("w_up", p.hidden, p.dim),
          weight("w_down", p.dim, p.hidden)};
}

void gated_mlp_reference(const Activation& activation, Device& device, const LadderProblem& p,
                         std::span<double* const> in, double* out) {
  const std::int64_t intermediate = p.rows() * p.hidden;
  const auto bytes = static_cast<std::size_t>(intermediate) * sizeof(double);
  const Memory g = device.allocate(bytes);
  const Memory u = device.allocate(bytes);
  auto* const g_data = static_cast<double*>(g.data());
  auto* const u_data = static_cast<double*>(u.data());
  ReferenceMath& math = device.reference_math();
  math.matmul(in[0], in[1], g_data, p.rows(), p.hidden, p.dim);
  math.matmul(in[0], in[2], u_data, p.rows(), p.hidden, p.dim);
  math.gate(activation, g_data, u_data, g_data, intermediate);
  math.matmul(g_data, in[3], out, p.rows(), p.dim, p.hidden);
  device.synchronize();  // before g and u are freed
}

namespace {

const OperationRegistration registered(kActivations, [](const Activation& activation) -> Operation {
  return {
      .name = activation.mlp(),
      .axes = ladder_axes(),
      .compared_with = "unfused",
      .inputs = &gated_mlp_inputs,
      .outputs = &outputs,
      .reference = std::bind_front(&gated_mlp_reference, activation),
  };
});

}  // namespace
}  // namespace fusegate::kernels
