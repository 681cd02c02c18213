// out [m, n] = x [m, k] w [n, k]^T for few rows and a long k on sm_90, k split over the blocks of a
// cluster (sm90/split_gemm.cuh). bf16 or fp16; addresses at multiples of 16 bytes, n and k
// multiples of 8.
#pragma once

#include <functional>

#include "kernels/cuda/cuda_device.h"

namespace fusegate {

// Whether it is the product to use. On an H200 (driver 580.159.04, 2026-11-21) it took 5.6 us for
// 128 x 768 x 3072 where cuBLAS took 6.3, and more than cuBLAS where its blocks are more than the
// SMs, or where more rows leave cuBLAS enough tiles without a split.
bool split_gemm_sm90_pays(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count);

// Throws DeviceError where the driver refuses the tensors, std::invalid_argument where they are
// fp32.
std::function<void()> make_split_gemm_sm90(CudaDevice& device, const Tensor& x, const Tensor& w,
                                           const Tensor& out);

}  // namespace fusegate
