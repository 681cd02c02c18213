// control_gemm: out = x w^T. x [M, dim], w [hidden, dim]. A control bound by arithmetic. Both
// are random, so that it meets the power limit as other operations do.
#include <cmath>

#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorSpec> inputs(const LadderProblem& p) {
  return {{"x", {p.rows(), p.dim}},
          {.name = "w",
           .shape = {p.hidden, p.dim},
           .fill = Fill::uniform(1 / std::sqrt(static_cast<double>(p.dim))),
           .is_weight = true}};
}

std::vector<TensorSpec> outputs(const LadderProblem& p) { return {{"out", {p.rows(), p.hidden}}}; }

void reference(Device& device, const LadderProblem& p, std::span<double* const> in, double* out) {
  device.reference_math().matmul(in[0], in[1], out, p.rows(), p.hidden, p.dim);
}

const OperationRegistration registered{{
    .name = "control_gemm",
    .axes = ladder_axes(),
    .is_control = true,
    .inputs = &inputs,
    .outputs = &outputs,
    .reference = &reference,
}};

}  // namespace
}  // namespace fusegate::kernels
