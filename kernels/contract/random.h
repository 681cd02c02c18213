// Random inputs: a hash of (seed, index), so that a CPU or any CUDA thread can make any element.
#pragma once

#include <cstdint>

#include "kernels/contract/fill.h"
#include "kernels/contract/host_device.h"

namespace fusegate::kernels {

// 64 random bits. The mixer is SplitMix64's: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014.
FUSEGATE_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Uniform in [-1, 1), with 24 random bits.
FUSEGATE_HOST_DEVICE inline float random_uniform(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = random_bits(seed, index);
  return static_cast<float>(static_cast<std::int64_t>(bits >> 40) - (1 << 23)) /
         static_cast<float>(1 << 23);
}

// Of mean 0 and deviation 1: a number of [-1, 1) has the variance 1/3, and twelve of them 4. The
// sums of 24-bit fractions are exact in double.
FUSEGATE_HOST_DEVICE inline double random_normal(std::uint64_t seed, std::uint64_t index) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 12; ++i) sum += random_uniform(seed, 12 * index + i);
  return sum / 2;
}

// The elements of a fill that is not a function.
struct FillNumbers {
  Fill::Kind kind;
  double scale, center;
  std::int64_t low;
  std::uint64_t choices;  // number of integers to choose from

  explicit FillNumbers(const Fill& fill)
      : kind(fill.kind),
        scale(fill.scale),
        center(fill.center),
        low(fill.low),
        choices(static_cast<std::uint64_t>(fill.high - fill.low) + 1) {}

  FUSEGATE_HOST_DEVICE double at(std::uint64_t seed, std::uint64_t index) const {
    switch (kind) {
      case Fill::Kind::kUniform:
        return center + static_cast<float>(scale) * random_uniform(seed, index);
      case Fill::Kind::kNormal:
        // Through float, so that no compiler fuses product and sum.
        return center + static_cast<float>(scale * random_normal(seed, index));
      case Fill::Kind::kIntegers:
        return static_cast<double>(low +
                                   static_cast<std::int64_t>(random_bits(seed, index) % choices));
      default:
        return center;
    }
  }
};

}  // namespace fusegate::kernels
