// The GEMM for problems of few tiles: narrow tiles, and k split over the blocks of a cluster, so
// that nearly every SM has some of it. Each block multiplies its share of k, writes the sums to its
// own shared memory in fp32, and adds up a band of rows over all blocks of the cluster through
// distributed shared memory. No workspace, no second kernel.
#pragma once

#include "kernels/cuda/sm90/gemm_tile.cuh"

namespace fusegate::sm90 {

template <typename Shape_, int kSplits_>
struct SplitGemm {
  using Shape = Shape_;
  using T = typename Shape::T;
  static constexpr int kSplits = kSplits_;  // blocks of a cluster
  static constexpr int kStages = Shape::kStages;
  // Eight rows' pairs of floats, as a warp writes them, then lie in different banks.
  static constexpr int kSumStride = Shape::kWidth + 8;
  static constexpr int kSumBytes = kTileRows * kSumStride * 4;
  static constexpr int kRingBytes = kStages * Shape::kStageBytes;
  // The sums take the ring's place when it is done.
  static constexpr int kDataBytes = kRingBytes > kSumBytes ? kRingBytes : kSumBytes;
  static constexpr int kSharedBytes = kDataBytes + static_cast<int>(sizeof(RingBarriers<kStages>)) +
                                      static_cast<int>(kSwizzleAlignment);
  static_assert(kSharedBytes <= kMostSharedBytes);
  static_assert(kTileRows % kSplits == 0);
};

struct SplitMaps {
  CUtensorMap x, w;
};

struct SplitSizes {
  int m = 0;
  int n = 0;
  int k = 0;
};

// What one block computes: rows and columns of out from, and steps of k.
struct SplitPlace {
  int row = 0, column = 0, first_step = 0, steps = 0;
};

template <typename Gemm>
__device__ SplitPlace split_place(const SplitSizes& sizes) {
  const int steps = (sizes.k + kStageColumns - 1) / kStageColumns;
  const int rank = static_cast<int>(blockIdx.x) % Gemm::kSplits;
  const int first = steps * rank / Gemm::kSplits;
  return {static_cast<int>(blockIdx.y) * kTileRows,
          static_cast<int>(blockIdx.x) / Gemm::kSplits * Gemm::Shape::kWidth, first,
          steps * (rank + 1) / Gemm::kSplits - first};
}

template <typename Gemm>
struct SplitShared {
  std::uint32_t data = 0, full = 0, empty = 0;

  __device__ explicit SplitShared(const void* raw) {
    data = (shared_address(raw) + kSwizzleAlignment - 1) / kSwizzleAlignment * kSwizzleAlignment;
    full = data + Gemm::kDataBytes;
    empty = full + Gemm::kStages * sizeof(std::uint64_t);
  }
  __device__ std::uint32_t stage(int i) const { return data + i * Gemm::Shape::kStageBytes; }
  __device__ std::uint32_t full_at(int i) const { return full + i * 8; }
  __device__ std::uint32_t empty_at(int i) const { return empty + i * 8; }
};

template <typename Gemm>
__device__ void load_split_w(const SplitMaps& maps, const SplitShared<Gemm>& shared,
                             const SplitPlace& place, int step, int stage) {
  load_box(maps.w, shared.stage(stage) + Gemm::Shape::kXBytes, shared.full_at(stage),
           (place.first_step + step) * kStageColumns, place.column);
}

template <typename Gemm>
__device__ void load_split_x(const SplitMaps& maps, const SplitShared<Gemm>& shared,
                             const SplitPlace& place, int step, int stage) {
  load_box(maps.x, shared.stage(stage), shared.full_at(stage),
           (place.first_step + step) * kStageColumns, place.row);
}

template <typename Gemm>
__device__ void produce_split(const SplitMaps& maps, const SplitShared<Gemm>& shared,
                              const SplitPlace& place) {
  const int ahead = min(Gemm::kStages, place.steps);
  // Weights are no kernel's result, so they need not wait for the kernel ahead.
  for (int i = 0; i < ahead; ++i) {
    barrier_expect_bytes(shared.full_at(i), Gemm::Shape::kStageBytes);
    load_split_w(maps, shared, place, i, i);
  }
  wait_for_previous_kernel();
  for (int i = 0; i < ahead; ++i) load_split_x(maps, shared, place, i, i);
  RingPosition<Gemm::kStages> at;
  for (int step = 0; step < place.steps; ++step, at.advance()) {
    if (step < ahead) continue;
    barrier_wait(shared.empty_at(at.stage), at.parity ^ 1);
    barrier_expect_bytes(shared.full_at(at.stage), Gemm::Shape::kStageBytes);
    load_split_w(maps, shared, place, step, at.stage);
    load_split_x(maps, shared, place, step, at.stage);
  }
}

// A thread's pairs of d to the block's sums, row by row.
template <typename Gemm>
__device__ void write_sums(const float (&d)[Gemm::Shape::kWidth / 2], float* sums, int consumer) {
  const int thread = threadIdx.x % kWarpgroup, lane = thread % 32;
  const int row = consumer * kConsumerRows + thread / 32 * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < Gemm::Shape::kWidth / 2; i += 2) {
    float* const to = sums + (row + i / 2 % 2 * 8) * Gemm::kSumStride + i / 4 * 8 + lane % 4 * 2;
    *reinterpret_cast<float2*>(to) = make_float2(d[i], d[i + 1]);
  }
}

// Eight neighbours' sums over the cluster.
template <typename Gemm>
__device__ void add_up(float (&total)[8], std::uint32_t address) {
#pragma unroll
  for (float& value : total) value = 0;
#pragma unroll
  for (int rank = 0; rank < Gemm::kSplits; ++rank) {
    const float4 low = load_from_block(address, rank), high = load_from_block(address + 16, rank);
    total[0] += low.x, total[1] += low.y, total[2] += low.z, total[3] += low.w;
    total[4] += high.x, total[5] += high.y, total[6] += high.z, total[7] += high.w;
  }
}

// This block's band of the tile: eight columns of out at a time.
template <typename Gemm>
__device__ void finish_band(std::uint32_t sums, const SplitPlace& place, const SplitSizes& sizes,
                            typename Gemm::T* out) {
  using Shape = typename Gemm::Shape;
  constexpr int kBand = kTileRows / Gemm::kSplits, kPieces = Shape::kWidth / 8;
  const int first = static_cast<int>(blockIdx.x) % Gemm::kSplits * kBand;
  for (int i = threadIdx.x; i < kBand * kPieces; i += kBlockThreads) {
    const int row = first + i / kPieces, column = i % kPieces * 8;
    if (place.row + row >= sizes.m || place.column + column >= sizes.n) continue;
    const std::uint32_t from = sums + (row * Gemm::kSumStride + column) * 4;
    float value[8];
    add_up<Gemm>(value, from);
    using T = typename Gemm::T;
    const uint4 packed{pack<T>(value[0], value[1]), pack<T>(value[2], value[3]),
                       pack<T>(value[4], value[5]), pack<T>(value[6], value[7])};
    *reinterpret_cast<uint4*>(out + static_cast<std::int64_t>(place.row + row) * sizes.n +
                              place.column + column) = packed;
  }
}

template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    split_gemm_kernel(const __grid_constant__ SplitMaps maps,
                      const __grid_constant__ SplitSizes sizes, typename Gemm::T* out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const SplitShared<Gemm> shared(raw);
  const SplitPlace place = split_place<Gemm>(sizes);
  if (threadIdx.x == 0) {
    prefetch_map(maps.x);
    prefetch_map(maps.w);
    for (int i = 0; i < Gemm::kStages; ++i) {
      barrier_init(shared.full_at(i), 1);
      barrier_init(shared.empty_at(i), kConsumers);
    }
    fence_barrier_init();
  }
  __syncthreads();
  let_next_kernel_start();
  const int consumer = warpgroup_of_warp() - 1;
  if (consumer < 0) {
    if (threadIdx.x == 0) produce_split(maps, shared, place);
    __syncthreads();
  } else {
    float d[Gemm::Shape::kWidth / 2];
    RingPosition<Gemm::kStages> at;
    multiply_tile<typename Gemm::Shape>(d, shared, at, place.steps, consumer, [&](int stage) {
      if (threadIdx.x % kWarpgroup == 0) barrier_arrive(shared.empty_at(stage));
    });
    __syncthreads();  // both consumers have left the ring
    write_sums<Gemm>(d, reinterpret_cast<float*>(raw + (shared.data - shared_address(raw))),
                     consumer);
  }
  __syncwarp();
  cluster_sync();
  finish_band<Gemm>(shared.data, place, sizes, out);
  cluster_sync();  // no block may end while another reads its sums
#endif             // other architectures never launch it
}

}  // namespace fusegate::sm90
