// out [m, n] = x [m, k] w [n, k]^T on sm_90 for many rows (sm90/wide_gemm.cuh), bf16 or fp16;
// addresses at multiples of 16 bytes, n and k multiples of 8.
#pragma once

#include <functional>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

namespace fusegate::kernels {

// A launch that can be repeated. Throws DeviceError where the driver refuses the tensors,
// std::invalid_argument for fp32 tensors.
std::function<void()> make_wide_gemm_sm90(CudaDevice& device, const WideGemmPlan& plan,
                                          const Tensor& x, const Tensor& w, const Tensor& out);

}  // namespace fusegate::kernels
