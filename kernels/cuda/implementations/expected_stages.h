// Expected launches of this folder's implementations (expectation.h).
#pragma once

#include <string>
#include <vector>

#include "kernels/contract/activation.h"
#include "kernels/contract/expectation.h"

namespace fusegate::kernels {

// cublasLt's matmul: one kernel, and a reduction where the stage's choice splits K. Some algorithms
// have a memset before them. most: products that the stage may launch one by one.
ExpectedStage expected_matmul(const std::string& stage, int most = 1);
// cuBLAS's, whose choice is unknown.
ExpectedStage expected_cublas_matmul(const std::string& stage);
// One of our own.
ExpectedStage expected_own_matmul(const std::string& stage);
// Either: whichever measured faster.
ExpectedStage expected_fastest_matmul(const std::string& stage);

// One element-wise kernel each; of the first, by a pattern of its name.
ExpectedStage expected_element_wise(const std::string& stage, const std::string& pattern);
ExpectedStage expected_bias_add();
ExpectedStage expected_activation(const Activation& activation);
ExpectedStage expected_mul();
ExpectedStage expected_gated(const Activation& activation);
ExpectedStage expected_quantized_gated(const Activation& activation);

// Of a call that launches only our kernels: `count` launches, and no queries of occupancy, which is
// known when a kernel is prepared.
std::vector<ExpectedCalls> expected_own_launches(int count);

inline constexpr const char* kPackedGateUp = "gate_up_proj";  // a stage: both products in one
// A gated MLP of four kernels, activation and mul in one; of three, gate's and up's products in one
// too; or of two, the unit in that product.
Expectation expected_pointwise_mlp(const Activation& activation);
Expectation expected_packed_mlp(const Activation& activation);
Expectation expected_epilogue_mlp(const Activation& activation);
// Of fused_epilogue: whichever of the three is the fastest.
std::vector<Expectation> expected_fastest_fused_mlp(const Activation& activation);

// NCCL's collective: one kernel.
ExpectedStage expected_nccl(const std::string& stage);
// Each with these stages before and after its own.
std::vector<Expectation> expected_between(const std::vector<ExpectedStage>& before,
                                          std::vector<Expectation> mlps,
                                          const std::vector<ExpectedStage>& after);

}  // namespace fusegate::kernels
