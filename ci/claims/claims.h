// The statements of "Profiling in PyTorch, part 2: from nn.Linear to a fused MLP"
// (huggingface.co/blog/torch-mlp-fusion, 2026-06-11), and what is asked of the same kernels beyond
// them, each with its figure for the A100 and findings on the card that the inputs are of.
#pragma once

#include <vector>

#include "ci/claims/claim.h"
#include "ci/claims/input.h"

namespace fusegate::ci {

// All of them, whatever the input lacks: what cannot be told says what is missing.
std::vector<Claim> check_claims(const ClaimsInput& input);

// Its parts, in this order.
std::vector<Claim> claims_of_linear(const ClaimsInput& input);    // one Linear with bias
std::vector<Claim> claims_of_mlp(const ClaimsInput& input);       // the eager MLP's kernels
std::vector<Claim> claims_of_compiled(const ClaimsInput& input);  // compiled, and Liger's
std::vector<Claim> claims_of_fusion(const ClaimsInput& input);    // what fusing saves
std::vector<Claim> claims_beyond(const ClaimsInput& input);

}  // namespace fusegate::ci
