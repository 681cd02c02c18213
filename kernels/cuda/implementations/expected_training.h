// Expected launches of backward passes and of training (training_stages.h).
#pragma once

#include <vector>

#include "kernels/contract/activation.h"
#include "kernels/contract/expectation.h"
#include "kernels/operations/training_stages.h"

namespace fusegate::kernels {

using ExpectedStages = std::vector<ExpectedStage>;

// A gated unit's in four kernels, or in one; and an MLP's.
ExpectedStages expected_unit_backward(const Activation& activation);
ExpectedStage expected_gated_backward(const Activation& activation);
ExpectedStages expected_mlp_pass(const Activation& activation, const MlpPass& pass);

}  // namespace fusegate::kernels
