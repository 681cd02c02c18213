// Products of x [rows, k] with weights [cols, k] for sm_90 (H100, H200), all row-major as a Linear
// layer stores them, bf16 or fp16; addresses at multiples of 16 bytes, cols and k multiples of 8.
// Sums are fp32. Launched early (dependent_launch.h): the kernel ahead of one of these may write x
// but not the weights.
#pragma once

#include <functional>

#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/gemm_sm90_plan.h"

namespace fusegate {

// Whether this program has the kernels' machine code for the GPU at hand, which must be of compute
// capability 9.0: they are built for sm_90a alone.
bool has_sm90_code();

struct GegluOperands {
  Tensor x, w_gate, w_up, h;
};
struct LinearOperands {
  Tensor x, w, out;
};

// Ready to be enqueued as often as wanted, by that plan, which must be of the same sizes and
// epilogue. Throw DeviceError where the driver refuses the tensors, std::invalid_argument where
// they are fp32.

// h = gelu_tanh(x w_gate^T) * (x w_up^T), so that neither product reaches device memory. g and u
// are rounded to the dtype, as tensors of their own would be; gelu and the product are fp32, and h
// is rounded once.
std::function<void()> make_geglu_gemm_sm90(CudaDevice& device, const GemmPlan& plan,
                                           const GegluOperands& operands);
// out = x w^T
std::function<void()> make_linear_gemm_sm90(CudaDevice& device, const GemmPlan& plan,
                                            const LinearOperands& operands);

}  // namespace fusegate
