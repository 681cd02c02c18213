// For element-wise CUDA kernels: element types, their conversion, and launch sizes.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

inline constexpr int kThreads = 256;

// Calls f.template operator()<T>() with the element type of dtype: fp32, fp16 or bf16.
template <typename F>
void dispatch_dtype(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::kBf16:
      return f.template operator()<__nv_bfloat16>();
    case Dtype::kFp16:
      return f.template operator()<__half>();
    case Dtype::kFp32:
      return f.template operator()<float>();
    default:
      throw DeviceError("this kernel does not support " + std::string(dtype_name(dtype)));
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

template <typename T>
__device__ double to_double(T value) {
  return static_cast<double>(to_float(value));
}
template <>
__device__ inline double to_double(double value) {
  return value;
}
template <>
__device__ inline double to_double(__nv_fp8_e4m3 value) {
  return static_cast<float>(value);
}
template <>
__device__ inline double to_double(__nv_fp8_e5m2 value) {
  return static_cast<float>(value);
}
template <typename Integer>
requires std::is_integral_v<Integer> __device__ double to_double(Integer value) {
  return static_cast<double>(value);
}

// As number_format.h's store_element rounds.
template <typename T>
__device__ T from_double(double value) {
  return from_float<T>(static_cast<float>(value));
}
template <>
__device__ inline __nv_fp8_e4m3 from_double<__nv_fp8_e4m3>(double value) {
  return __nv_fp8_e4m3(static_cast<float>(value));  // which saturates
}
template <>
__device__ inline __nv_fp8_e5m2 from_double<__nv_fp8_e5m2>(double value) {
  return __nv_fp8_e5m2(static_cast<float>(value));
}
template <>
__device__ inline double from_double<double>(double value) {
  return value;
}
template <typename Integer>
requires std::is_integral_v<Integer> __device__ Integer from_double(double value) {
  if constexpr (sizeof(Integer) == 8) {
    return __double2ll_rn(value);  // which saturates, as does the next
  } else if constexpr (sizeof(Integer) == 4) {
    return __double2int_rn(value);
  } else {
    constexpr bool kSigned = std::is_signed_v<Integer>;
    constexpr double kMost = (1 << (8 * sizeof(Integer) - kSigned)) - 1;
    constexpr double kLeast = kSigned ? -kMost - 1 : 0;
    return static_cast<Integer>(fmin(fmax(rint(value), kLeast), kMost));
  }
}

// Calls f.template operator()<T>() with the element type of any dtype, while the kernel runs: with
// an instance of each kernel for each dtype, the reference's object was four times as large.
template <typename F>
__device__ auto with_element_type(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::kFp64:
      return f.template operator()<double>();
    case Dtype::kFp32:
      return f.template operator()<float>();
    case Dtype::kFp16:
      return f.template operator()<__half>();
    case Dtype::kBf16:
      return f.template operator()<__nv_bfloat16>();
    case Dtype::kFp8E4m3:
      return f.template operator()<__nv_fp8_e4m3>();
    case Dtype::kFp8E5m2:
      return f.template operator()<__nv_fp8_e5m2>();
    case Dtype::kInt64:
      return f.template operator()<long long>();
    case Dtype::kInt32:
      return f.template operator()<int>();
    case Dtype::kInt16:
      return f.template operator()<short>();
    case Dtype::kInt8:
      return f.template operator()<signed char>();
    case Dtype::kUint8:
      break;
  }
  return f.template operator()<unsigned char>();
}

// Element i of data.
__device__ inline double load_as_double(const void* data, Dtype dtype, std::int64_t i) {
  return with_element_type(dtype,
                           [=]<typename T>() { return to_double(static_cast<const T*>(data)[i]); });
}
__device__ inline void store_rounded(void* data, Dtype dtype, std::int64_t i, double value) {
  with_element_type(dtype, [=]<typename T>() { static_cast<T*>(data)[i] = from_double<T>(value); });
}

// Blocks for a grid-stride loop over count elements.
inline int grid_blocks(std::int64_t count) {
  constexpr std::int64_t kMostBlocks = 8192;
  return static_cast<int>(std::min((count + kThreads - 1) / kThreads, kMostBlocks));
}

}  // namespace fusegate::kernels
