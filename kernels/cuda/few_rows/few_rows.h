// Products of few rows of x, one to kMostFewRows, bound by reading the weights, as in a decode
// step: few_rows_gemm on tensor cores and, of a single row, gemv. For sm_80 and newer. x [rows, k],
// weights [cols, k] and out [rows, cols], row-major, bf16 or fp16; x and the weights aligned to 16
// bytes, k a multiple of 8. Sums are fp32, in an order fixed by the plan, so that results repeat to
// the bit; out is rounded once.
//
// Where the device can, these kernels are launched early (dependent_launch.h) and load their first
// weights before the kernel ahead has ended. So the kernel ahead may write x, but not the weights
// of this kernel or of others that follow it directly.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/contract/activation.h"
#include "kernels/contract/device.h"
#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/few_rows/few_rows_plan.h"
#include "kernels/cuda/few_rows/gemv_plan.h"

namespace fusegate::kernels {

// plan: for these sizes. All throw std::invalid_argument for fp32 tensors.

// h = activation(x w_gate^T) * (x w_up^T), in fp32, with one of kGemmActivations. A FewRowsPlan is
// that of two weights.
void enqueue_streamed_gated(const FewRowsPlan& plan, const Activation& activation,
                            const GatedOperands& operands, cudaStream_t stream);
void enqueue_streamed_gated(const GemvPlan& plan, const Activation& activation,
                            const GatedOperands& operands, cudaStream_t stream);

// out = x w^T
void enqueue_streamed_matmul(const FewRowsPlan& plan, const Tensor& x, const Tensor& w,
                             const Tensor& out, cudaStream_t stream);
void enqueue_streamed_matmul(const GemvPlan& plan, const Tensor& x, const Tensor& w,
                             const Tensor& out, cudaStream_t stream);

}  // namespace fusegate::kernels
