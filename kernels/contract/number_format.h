// Tensors' elements on the host, converted to and from double. Rounding is to nearest even, as
// CUDA's conversions round.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

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

// GCC's _Float16 converts with the same rounding.
inline float fp16_to_float(std::uint16_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}

inline std::uint16_t float_to_fp16(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

// The two 8-bit formats of P. Micikevicius et al., "FP8 formats for deep learning", 2022
// (arXiv:2209.05433), table 1. E4M3 has no infinity and one NaN per sign, all bits one.
struct Fp8Format {
  int mantissa_bits;
  int bias;
  float largest;
};
inline constexpr Fp8Format kE4m3{3, 7, 448.0f};
inline constexpr Fp8Format kE5m2{2, 15, 57344.0f};

inline float fp8_to_float(std::uint8_t bits, const Fp8Format& format) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits & 0x7f) >> format.mantissa_bits;
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  const bool is_subnormal = exponent == 0;
  const int significand = is_subnormal ? mantissa : mantissa + (1 << format.mantissa_bits);
  const float magnitude =
      std::ldexp(static_cast<float>(significand),
                 (is_subnormal ? 1 : exponent) - format.bias - format.mantissa_bits);
  if (magnitude <= format.largest) return sign * magnitude;
  // Above the largest number: E4M3's one code is NaN; of E5M2's four the first is infinity.
  if (format.mantissa_bits == kE5m2.mantissa_bits && mantissa == 0) {
    return sign * std::numeric_limits<float>::infinity();
  }
  return std::numeric_limits<float>::quiet_NaN();
}

// Saturates at the format's largest number (CUDA's __NV_SATFINITE).
inline std::uint8_t float_to_fp8(float value, const Fp8Format& format) {
  if (std::isnan(value)) return 0x7f;
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const float magnitude = std::min(std::abs(value), format.largest);
  // At least that of subnormals.
  const int least = 1 - format.bias;
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  const float units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  // A carry out of the mantissa raises the exponent.
  const int code = ((exponent - least) << format.mantissa_bits) + static_cast<int>(units);
  return static_cast<std::uint8_t>(sign | code);
}

template <typename Integer>
Integer double_to_integer(double value) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) return 0;
  return static_cast<Integer>(std::clamp(std::nearbyint(value), static_cast<double>(Limits::min()),
                                         static_cast<double>(Limits::max())));
}

// Element index of an array of dtype in host memory.
inline double load_element(const void* data, Dtype dtype, std::int64_t index) {
  const auto at = [&]<typename T>(T) { return static_cast<const T*>(data)[index]; };
  switch (dtype) {
    case Dtype::kFp64:
      return at(double{});
    case Dtype::kFp32:
      return at(float{});
    case Dtype::kFp16:
      return fp16_to_float(at(std::uint16_t{}));
    case Dtype::kBf16:
      return bf16_to_float(at(std::uint16_t{}));
    case Dtype::kFp8E4m3:
      return fp8_to_float(at(std::uint8_t{}), kE4m3);
    case Dtype::kFp8E5m2:
      return fp8_to_float(at(std::uint8_t{}), kE5m2);
    case Dtype::kInt64:
      return static_cast<double>(at(std::int64_t{}));
    case Dtype::kInt32:
      return at(std::int32_t{});
    case Dtype::kInt16:
      return at(std::int16_t{});
    case Dtype::kInt8:
      return at(std::int8_t{});
    case Dtype::kUint8:
      return at(std::uint8_t{});
  }
  return 0;
}

inline void store_element(void* data, Dtype dtype, std::int64_t index, double value) {
  const auto put = [&](auto stored) { static_cast<decltype(stored)*>(data)[index] = stored; };
  const auto single = static_cast<float>(value);
  switch (dtype) {
    case Dtype::kFp64:
      return put(value);
    case Dtype::kFp32:
      return put(single);
    case Dtype::kFp16:
      return put(float_to_fp16(single));
    case Dtype::kBf16:
      return put(float_to_bf16(single));
    case Dtype::kFp8E4m3:
      return put(float_to_fp8(single, kE4m3));
    case Dtype::kFp8E5m2:
      return put(float_to_fp8(single, kE5m2));
    case Dtype::kInt64:
      return put(double_to_integer<std::int64_t>(value));
    case Dtype::kInt32:
      return put(double_to_integer<std::int32_t>(value));
    case Dtype::kInt16:
      return put(double_to_integer<std::int16_t>(value));
    case Dtype::kInt8:
      return put(double_to_integer<std::int8_t>(value));
    case Dtype::kUint8:
      return put(double_to_integer<std::uint8_t>(value));
  }
}

}  // namespace fusegate::kernels
