// h [rows, hidden] = activation(x w_gate^T) * (x w_up^T) in one kernel for sm_80 and newer, so that
// neither product reaches device memory. x [rows, dim] and w_gate and w_up [hidden, dim], all
// row-major as a Linear layer stores them, bf16 or fp16; addresses at multiples of 16 bytes. Sums,
// activation and the product with u are fp32; h is rounded once.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/contract/activation.h"
#include "kernels/contract/device.h"
#include "kernels/cuda/gemm/sm80/plan.h"

namespace fusegate::kernels {

GatedGemmSize gated_gemm_size(const Tensor& x, const Tensor& h);

// Once before the plan's tile is launched with the dtype and the activation, which is one of
// kGemmActivations: allows it its shared memory.
void prepare_gated_gemm_sm80(const GatedGemmPlan& plan, const Activation& activation, Dtype dtype);

// plan: of these tensors' sizes. Throws std::invalid_argument where they are fp32.
void enqueue_gated_gemm_sm80(const GatedGemmPlan& plan, const Activation& activation,
                             const Tensor& x, const Tensor& w_gate, const Tensor& w_up,
                             const Tensor& h, cudaStream_t stream);

}  // namespace fusegate::kernels
