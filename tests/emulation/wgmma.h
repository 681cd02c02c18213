// Replaces wgmma.cuh: an emulated cluster computes products when they are waited for.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstring>

#include "tests/emulation/cluster.h"

namespace fusegate::kernels::sm90 {

inline std::uint64_t matrix_descriptor(std::uint32_t address) {
  return (address >> 4 & 0x3fff) | std::uint64_t{1} << 16 | std::uint64_t{1024 >> 4} << 32 |
         std::uint64_t{1} << 62;
}

inline std::uint64_t plain_descriptor(std::uint32_t address, std::uint32_t box_bytes) {
  return (address >> 4 & 0x3fff) | std::uint64_t{box_bytes >> 4} << 16 |
         std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

inline void wgmma_fence() {}
inline void wgmma_commit() { emulation::Cluster::here().commit_products(); }
template <int kPending>
void wgmma_wait() {
  emulation::Cluster::here().wait_products(kPending);
}
template <int kCount>
void wgmma_pin(float (&)[kCount]) {}

// Of one byte, the lower half of bits.
template <typename T>
float widen(std::uint16_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(value));
  return static_cast<float>(value);
}

template <typename T, int kColumns, bool kPlainB = false>
void wgmma(float (&d)[kColumns / 2], std::uint64_t a, std::uint64_t b, int add) {
  static_assert(kColumns % 8 == 0 && kColumns <= 256);
  emulation::Cluster::here().multiply(
      {d, kColumns, a, b, add != 0, &widen<T>, static_cast<int>(sizeof(T)), kPlainB});
}

}  // namespace fusegate::kernels::sm90
