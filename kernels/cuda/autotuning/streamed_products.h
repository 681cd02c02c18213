// The products of few rows of x, one to kMostFewRows, as candidates: gemv for a single row, and
// few_rows_gemm, each cut in several ways. Which cut loads the weights fastest depends on their
// size: many small blocks from memory, fewer blocks with more loads in flight from the L2.
#pragma once

#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/autotuning/autotune.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/gated_operands.h"

namespace fusegate::kernels {

// None where x has more rows than kMostFewRows.

// h = activation(x w_gate^T) * (x w_up^T)
std::vector<Candidate> streamed_gated(CudaDevice& device, const Activation& activation,
                                      const GatedOperands& operands);
// out = x w^T
std::vector<Candidate> streamed_matmul(CudaDevice& device, const Tensor& x, const Tensor& w,
                                       const Tensor& out);

}  // namespace fusegate::kernels
