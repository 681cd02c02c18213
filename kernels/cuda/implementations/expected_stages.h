// What the stages of this folder's implementations launch, for their declarations (expectation.h).
#pragma once

#include <string>
#include <vector>

#include "kernels/contract/expectation.h"

namespace fusegate::kernels {

// cublasLt's matmul: one kernel, and a second one that adds up the parts where the algorithm splits
// K, which the stage's choice says. Some algorithms have a memset before them.
ExpectedStage expected_matmul(const std::string& stage);
// cuBLAS's, which does not say what it chose.
ExpectedStage expected_cublas_matmul(const std::string& stage);
// One of our kernels that multiply.
ExpectedStage expected_own_matmul(const std::string& stage);
// Either: whichever measured faster.
ExpectedStage expected_fastest_matmul(const std::string& stage);

// One element-wise kernel each.
ExpectedStage expected_bias_add();
ExpectedStage expected_gelu();
ExpectedStage expected_mul();
ExpectedStage expected_gelu_mul();

// Of a call that launches our kernels alone: so many launches, and no query of occupancy, since how
// many blocks a kernel gets is known when it is prepared.
std::vector<ExpectedCalls> expected_own_launches(int count);

// A geglu_mlp of four kernels, gelu and mul in one.
Expectation expected_pointwise_mlp();

}  // namespace fusegate::kernels
