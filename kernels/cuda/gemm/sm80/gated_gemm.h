// h [rows, hidden] = activation(x w_gate^T) * (x w_up^T) in one kernel for sm_80 and newer, so that
// neither product reaches device memory. x [rows, dim] and w_gate and w_up [hidden, dim], all
// row-major, bf16 or fp16, aligned to 16 bytes. Sums, activation and the product with u are fp32; h
// is rounded once.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/contract/activation.h"
#include "kernels/contract/device.h"
#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/gemm/sm80/plan.h"

namespace fusegate::kernels {

// Call once before launching the plan's tile with the dtype and the activation (one of
// kGemmActivations): allows its shared memory.
void prepare_gated_gemm_sm80(const GatedGemmPlan& plan, const Activation& activation, Dtype dtype);

// plan: for these sizes. Throws std::invalid_argument for fp32 tensors.
void enqueue_gated_gemm_sm80(const GatedGemmPlan& plan, const Activation& activation,
                             const GatedOperands& operands, cudaStream_t stream);

}  // namespace fusegate::kernels
