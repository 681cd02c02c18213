// What the Hopper GEMMs are made of. A tile is 128 rows of x by so many rows of w, out [m, n] =
// x [m, k] w [n, k]^T.
//
// A block is three warpgroups. One thread of the first, the producer, fills a ring of stages in
// shared memory through the TMA; the other two, the consumers, multiply 64 rows each. A stage is 64
// columns (128 bytes) of x's rows and of w's.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/gemm/sm90/ptx.cuh"
#include "kernels/cuda/gemm/sm90/wgmma.cuh"

namespace fusegate::kernels::sm90 {

inline constexpr int kTileRows = 128;
inline constexpr int kStageColumns = 64;  // 128 bytes of 16-bit elements: the widest swizzle
inline constexpr int kConsumers = 2;
inline constexpr int kWarpgroup = 128;
inline constexpr int kBlockThreads = (1 + kConsumers) * kWarpgroup;
inline constexpr int kConsumerRows = kTileRows / kConsumers;
// How a tile is shaped, known when compiled. kWidth: rows of w that it multiplies, the N of wgmma.
template <typename T_, int kWidth_, int kStages_>
struct TileShape {
  using T = T_;
  static constexpr int kWidth = kWidth_;
  static constexpr int kStages = kStages_;
  static constexpr int kXBytes = kTileRows * kStageColumns * 2;
  static constexpr int kWBytes = kWidth * kStageColumns * 2;
  static constexpr int kStageBytes = kXBytes + kWBytes;
};

// What the swizzle wants the ring to start at.
inline constexpr std::uint32_t kSwizzleAlignment = 1024;
// What a block may ask for on compute capability 9.0.
inline constexpr int kMostSharedBytes = 227 * 1024;

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
  __device__ void advance_by(int steps) {
    const int next = stage + steps;
    parity ^= next / kStages & 1;
    stage = next % kStages;
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

// The other way.
template <typename T>
__device__ inline float2 unpack(std::uint32_t bits) {
  if constexpr (std::is_same_v<T, __half>) {
    __half2 pair;
    memcpy(&pair, &bits, sizeof(bits));
    return __half22float2(pair);
  } else {
    __nv_bfloat162 pair;
    memcpy(&pair, &bits, sizeof(bits));
    return __bfloat1622float2(pair);
  }
}

}  // namespace fusegate::kernels::sm90
