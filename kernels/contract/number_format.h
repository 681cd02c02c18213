// bf16 and fp16 as the host stores them: 16 bits, converted to and from float with rounding to
// nearest even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/contract/problem.h"

namespace fusegate::kernels {

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// GCC's _Float16 converts with the same rounding; it has no C++20 literal or limits, which we do
// not need.
inline float fp16_to_float(std::uint16_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}

inline std::uint16_t float_to_fp16(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

// Element index of an array of dtype in host memory.
inline float load_element(const void* data, Dtype dtype, std::int64_t index) {
  if (dtype == Dtype::kFp32) return static_cast<const float*>(data)[index];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(data)[index];
  return dtype == Dtype::kBf16 ? bf16_to_float(bits) : fp16_to_float(bits);
}

inline void store_element(void* data, Dtype dtype, std::int64_t index, float value) {
  if (dtype == Dtype::kFp32) {
    static_cast<float*>(data)[index] = value;
  } else {
    static_cast<std::uint16_t*>(data)[index] =
        dtype == Dtype::kBf16 ? float_to_bf16(value) : float_to_fp16(value);
  }
}

}  // namespace fusegate::kernels
