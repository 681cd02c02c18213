// Products of one row of x, as in a decode step of one token. For sm_80 and newer. x [1, k],
// weights [cols, k] and out [1, cols], row-major, bf16 or fp16; x and the weights aligned to 16
// bytes, k a multiple of 8. Sums are fp32, in an order fixed by the plan, so that results repeat to
// the bit; out is rounded once.
//
// Where the device can, these kernels are launched early (dependent_launch.h) and load their first
// weights before the kernel ahead has ended. So the kernel ahead may write x but not the weights.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/contract/activation.h"
#include "kernels/contract/device.h"
#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/few_rows/gemv_plan.h"

namespace fusegate::kernels {

// plan: one of gemv_plans() for these tensors. Throw std::invalid_argument where they are fp32.

// h = activation(x w_gate^T) * (x w_up^T), one of kGemmActivations; it and the product with u are
// fp32.
void enqueue_gemv_gated(const GemvPlan& plan, const Activation& activation,
                        const GatedOperands& operands, cudaStream_t stream);
// out = x w^T
void enqueue_gemv(const GemvPlan& plan, const Tensor& x, const Tensor& w, const Tensor& out,
                  cudaStream_t stream);

}  // namespace fusegate::kernels
