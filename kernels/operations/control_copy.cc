// control_copy: out = x, all [M, hidden]. A control bound by memory, or by the L2 where it
// fits.
#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorSpec> inputs(const LadderProblem& p) { return {{"x", {p.rows(), p.hidden}}}; }

std::vector<TensorSpec> outputs(const LadderProblem& p) { return {{"out", {p.rows(), p.hidden}}}; }

void reference(Device& device, const LadderProblem& p, std::span<double* const> in, double* out) {
  device.reference_math().copy(in[0], out, p.rows() * p.hidden);
}

const OperationRegistration registered{{
    .name = "control_copy",
    .axes = ladder_axes(),
    .unswept_axes = {"dim"},
    .is_control = true,
    .inputs = &inputs,
    .outputs = &outputs,
    .reference = &reference,
}};

}  // namespace
}  // namespace fusegate::kernels
