// Products of few rows of x, one to kMostFewRows, with weights that are read once and waited for:
// what a decode step does. For sm_80 and newer. x [rows, k], weights [cols, k] and out [rows,
// cols], all row-major as a Linear layer stores them, bf16 or fp16; x and the weights at multiples
// of 16 bytes, k a multiple of 8. Sums are fp32 and in an order that the plan sets, so that results
// repeat to the bit; out is rounded once.
//
// Where the device can, these kernels are launched early (dependent_launch.h) and load their first
// weights before the kernel ahead has ended. So the kernel ahead may write x but not the weights.
// Where several of these kernels follow each other, it may not write the weights of the later ones
// either.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/contract/activation.h"
#include "kernels/contract/device.h"
#include "kernels/cuda/few_rows/few_rows_plan.h"

namespace fusegate::kernels {

// h = activation(x w_gate^T) * (x w_up^T), one of kGemmActivations; it and the product with u are
// fp32. plan: of these
// tensors' sizes with two weights. Throws std::invalid_argument where they are fp32.
void enqueue_few_rows_gated(const FewRowsPlan& plan, const Activation& activation, const Tensor& x,
                            const Tensor& w_gate, const Tensor& w_up, const Tensor& h,
                            cudaStream_t stream);

// out = x w^T. plan: of these tensors' sizes with one weight. Throws std::invalid_argument where
// they are fp32.
void enqueue_few_rows_matmul(const FewRowsPlan& plan, const Tensor& x, const Tensor& w,
                             const Tensor& out, cudaStream_t stream);

}  // namespace fusegate::kernels
