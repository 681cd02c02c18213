// An fp8 MLP in plain C++, which rounds what a GPU's kernels round. For tests, not for speed.
#pragma once

#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/operations/fp8_scales.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {

// Products that a tensor core adds at a time.
inline constexpr std::int64_t kFp8Step = 32;

// out [M, dim], not yet rounded to bf16. in: in the host's memory. round: of a sum in fp32 after
// each step.
std::vector<float> fp8_mlp_on_host(
    const Activation& activation, Fp8Scales scales, const LadderProblem& p, Inputs in,
    float (*round)(float sum) = [](float sum) { return sum; });

}  // namespace fusegate::kernels
