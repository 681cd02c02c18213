// A tuned matmul's problem and choice (lt_tuning.h).
#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "kernels/cuda/device/taken_launch.h"

namespace fusegate::kernels {

// All matmuls of one problem on a device share one choice.
struct LtProblem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  cudaDataType_t type = CUDA_R_16BF;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool bias = false;
  std::size_t workspace_bytes = 0;
  std::string required{};  // the pinned choice that must be taken; "" where measuring decides

  friend auto operator<=>(const LtProblem&, const LtProblem&) = default;
};

struct LtChoice {
  cublasLtMatmulAlgo_t algorithm{};
  std::string text;  // "tuned: candidate 3 of 8, algo 66, tile 18, ..."
  double ahead = TakenLaunch{}.ahead;
};

using LtChoices = std::map<LtProblem, LtChoice>;

}  // namespace fusegate::kernels
