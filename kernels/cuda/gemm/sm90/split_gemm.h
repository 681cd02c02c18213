// out [m, n] = x [m, k] w [n, k]^T on sm_90 for problems of few tiles (sm90/split_gemm.cuh), bf16
// or fp16; addresses at multiples of 16 bytes, n and k multiples of 8.
#pragma once

#include <functional>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/gemm/sm90/split_gemm_plan.h"

namespace fusegate::kernels {

// A launch that can be repeated. shape: one of split_gemm_shapes() for these sizes. Throws
// DeviceError where the driver refuses the tensors, std::invalid_argument for fp32 tensors.
std::function<void()> make_split_gemm_sm90(CudaDevice& device, std::size_t shape, const Tensor& x,
                                           const Tensor& w, const Tensor& out);

}  // namespace fusegate::kernels
