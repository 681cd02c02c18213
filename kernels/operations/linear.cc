// linear: out = x w^T + bias, as torch.nn.Linear. x [M, dim], w [hidden, dim], bias [hidden].
#include <cmath>

#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorSpec> inputs(const LadderProblem& p) {
  // torch.nn.Linear draws weight and bias from U(-1/sqrt(in), 1/sqrt(in)).
  const Fill fill = Fill::uniform(1 / std::sqrt(static_cast<double>(p.dim)));
  return {{"x", {p.rows(), p.dim}},
          {.name = "w", .shape = {p.hidden, p.dim}, .fill = fill, .is_weight = true},
          {.name = "bias", .shape = {p.hidden}, .fill = fill, .is_weight = true}};
}

std::vector<TensorSpec> outputs(const LadderProblem& p) { return {{"out", {p.rows(), p.hidden}}}; }

void reference(Device& device, const LadderProblem& p, std::span<double* const> in, double* out) {
  device.reference_math().matmul(in[0], in[1], out, p.rows(), p.hidden, p.dim);
  device.reference_math().add_bias(out, in[2], p.rows(), p.hidden);
}

const OperationRegistration registered{{
    .name = "linear",
    .axes = ladder_axes(),
    .compared_with = "matmul_add",
    .inputs = &inputs,
    .outputs = &outputs,
    .reference = &reference,
}};

}  // namespace
}  // namespace fusegate::kernels
