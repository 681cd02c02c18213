// Sums of bf16 numbers in fp32, two in a word of four bytes.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <cstring>

namespace fusegate::kernels::ranks {

__device__ inline void add_to(float& first, float& second, std::uint32_t word) {
  first += __uint_as_float(word << 16);
  second += __uint_as_float(word & 0xffff0000U);
}
__device__ inline void add_to(float (&sums)[8], const uint4& value) {
  const std::uint32_t words[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) add_to(sums[2 * i], sums[2 * i + 1], words[i]);
}

__device__ inline std::uint32_t rounded(float first, float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  std::uint32_t bits = 0;
  memcpy(&bits, &pair, sizeof(bits));
  return bits;
}
__device__ inline uint4 rounded(const float (&sums)[8]) {
  return {rounded(sums[0], sums[1]), rounded(sums[2], sums[3]), rounded(sums[4], sums[5]),
          rounded(sums[6], sums[7])};
}

}  // namespace fusegate::kernels::ranks
