// The random numbers of the inputs: a hash of (seed, index), so that every element can be made on
// its own, on the CPU and in a CUDA thread alike.
#pragma once

#include <cstdint>

#include "kernels/contract/host_device.h"

namespace fusegate::kernels {

// Uniform in [-1, 1), with 24 random bits. The mixer is SplitMix64's: G. L. Steele, D. Lea,
// C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
FUSEGATE_HOST_DEVICE inline float random_uniform(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<float>(static_cast<std::int64_t>(z >> 40) - (1 << 23)) /
         static_cast<float>(1 << 23);
}

}  // namespace fusegate::kernels
