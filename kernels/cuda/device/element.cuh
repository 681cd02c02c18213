// What every element-wise CUDA kernel needs: a tensor's elements as C++ types, their conversion,
// and launch sizes.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

inline constexpr int kThreads = 256;

// Calls f.template operator()<T>() with the element type of dtype.
template <typename F>
void dispatch_dtype(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::kBf16:
      return f.template operator()<__nv_bfloat16>();
    case Dtype::kFp16:
      return f.template operator()<__half>();
    case Dtype::kFp32:
      return f.template operator()<float>();
  }
}

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__half value) { return __half2float(value); }
__device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

template <typename T>
__device__ T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__device__ inline __half from_float<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

// Blocks for a grid-stride loop over count elements: enough to fill any GPU, never more than
// needed.
inline int grid_blocks(std::int64_t count) {
  constexpr std::int64_t kMostBlocks = 8192;
  return static_cast<int>(std::min((count + kThreads - 1) / kThreads, kMostBlocks));
}

}  // namespace fusegate::kernels
