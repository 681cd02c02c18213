// What the gated MLPs share, whatever their numbers are stored in.
#pragma once

#include <span>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {

// x [M, dim], and the weights w_gate and w_up [hidden, dim] and w_down [dim, hidden].
std::vector<TensorSpec> gated_mlp_inputs(const LadderProblem& p);

// out = (activation(x w_gate^T) * (x w_up^T)) w_down^T in double precision; in: x, w_gate, w_up,
// w_down.
void gated_mlp_reference(const Activation& activation, Device& device, const LadderProblem& p,
                         std::span<double* const> in, double* out);

}  // namespace fusegate::kernels
