// What the gated MLPs share, whatever their numbers are stored in.
#pragma once

#include <span>

#include "kernels/contract/device.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {

// out = (activation(x w_gate^T) * (x w_up^T)) w_down^T in double precision; in: x, w_gate, w_up,
// w_down.
void gated_mlp_reference(const Activation& activation, Device& device, const LadderProblem& p,
                         std::span<double* const> in, double* out);

}  // namespace fusegate::kernels
