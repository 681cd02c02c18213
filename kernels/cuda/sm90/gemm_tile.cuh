// What the Hopper GEMMs are made of: out [m, n] = x [m, k] w [n, k]^T tile by tile, or, gated,
// gelu_tanh(x w_gate^T) * (x w_up^T), where one tile computes the same columns of both products and
// g and u never leave the registers.
//
// A block is three warpgroups. One thread of the first, the producer, fills a ring of stages in
// shared memory through the TMA; the other two, the consumers, multiply 64 rows each. A stage is 64
// columns (128 bytes) of x's 128 rows and of w's kWidth rows; gated, the first half of these is
// w_gate's, the second w_up's.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/gelu_tanh.cuh"
#include "kernels/cuda/sm90/ptx.cuh"
#include "kernels/cuda/sm90/wgmma.cuh"

namespace fusegate::sm90 {

inline constexpr int kTileRows = 128;
inline constexpr int kStageColumns = 64;  // 128 bytes of 16-bit elements: the widest swizzle
inline constexpr int kConsumers = 2;
inline constexpr int kWarpgroup = 128;
inline constexpr int kBlockThreads = (1 + kConsumers) * kWarpgroup;
inline constexpr int kConsumerRows = kTileRows / kConsumers;
// Of 65,536: 128 x (40 + 2 x 232). A consumer holds up to 128 accumulators a thread.
inline constexpr int kProducerRegisters = 40;
inline constexpr int kConsumerRegisters = 232;

// How a tile is shaped, known when compiled. kWidth: rows of w a tile multiplies, the N of wgmma.
template <typename T_, bool kGated_, int kWidth_, int kStages_>
struct TileShape {
  using T = T_;
  static constexpr bool kGated = kGated_;
  static constexpr int kWidth = kWidth_;
  static constexpr int kStages = kStages_;
  static constexpr int kColumns = kGated ? kWidth / 2 : kWidth;  // of out
  static constexpr int kXBytes = kTileRows * kStageColumns * 2;
  static constexpr int kWBytes = kWidth * kStageColumns * 2;
  static constexpr int kStageBytes = kXBytes + kWBytes;
};

// The tensors as the TMA sees them. w's box is half a tile's kWidth rows: w_first's rows go to the
// stage's first half, w_second's to the second. Not gated, both are w.
struct GemmMaps {
  CUtensorMap x, w_first, w_second, out;
};

__device__ inline void prefetch(const GemmMaps& maps) {
  prefetch_map(maps.x);
  prefetch_map(maps.w_first);
  prefetch_map(maps.w_second);
  prefetch_map(maps.out);
}

struct GemmSizes {
  int m = 0;
  int n = 0;  // of out
  int k = 0;
};

// The ring's barriers: full when a stage's bytes are in, empty when all its readers are done.
template <int kStages>
struct RingBarriers {
  std::uint64_t full[kStages];
  std::uint64_t empty[kStages];
};

// Where in the ring an iteration is, and which of a barrier's phases belongs to it.
template <int kStages>
struct RingPosition {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// The same in all lanes, which only a shuffle tells the compiler: addresses that hang on it then
// take uniform registers, where wgmma wants them. 1 to 3 % fewer cycles on an H200.
__device__ inline int warpgroup_of_warp() {
  return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
}

// One stage of a consumer's 64 rows: four wgmmas of 16 columns. first: d is overwritten.
template <typename Shape>
__device__ inline void multiply_stage(float (&d)[Shape::kWidth / 2], std::uint32_t stage,
                                      int consumer, bool first) {
  const std::uint32_t x = stage + consumer * kConsumerRows * kStageColumns * 2;
  const std::uint64_t a = matrix_descriptor(x), b = matrix_descriptor(stage + Shape::kXBytes);
#pragma unroll
  for (int step = 0; step < kStageColumns / 16; ++step) {
    // 16 columns are 32 bytes, two units of a descriptor's address.
    wgmma<typename Shape::T, Shape::kWidth>(d, a + 2 * step, b + 2 * step, !first || step > 0);
  }
}

// All steps of a tile. release(stage) is called when a stage has been read: one step later, so that
// the tensor cores have work meanwhile.
template <typename Shape, typename Shared, typename Release>
__device__ inline void multiply_tile(float (&d)[Shape::kWidth / 2], const Shared& shared,
                                     RingPosition<Shape::kStages>& at, int steps, int consumer,
                                     const Release& release) {
  int previous = 0;
  for (int step = 0; step < steps; ++step) {
    barrier_wait(shared.full_at(at.stage), at.parity);
    wgmma_pin(d);
    wgmma_fence();
    multiply_stage<Shape>(d, shared.stage(at.stage), consumer, step == 0);
    wgmma_commit();
    wgmma_pin(d);
    if (step > 0) {
      wgmma_wait<1>();
      release(previous);
    }
    previous = at.stage;
    at.advance();
  }
  wgmma_wait<0>();
  wgmma_pin(d);
  release(previous);
}

__device__ inline float geglu(float g, float u) { return gelu_tanh(g) * u; }

// Two neighbours of a row, rounded, the first in the lower half: one conversion instruction.
template <typename T>
__device__ inline std::uint32_t pack(float first, float second) {
  std::uint32_t bits = 0;
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 pair = __floats2half2_rn(first, second);
    memcpy(&bits, &pair, sizeof(bits));
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    memcpy(&bits, &pair, sizeof(bits));
  }
  return bits;
}

}  // namespace fusegate::sm90
