// What both gated products of sm_90 are made of: what lies in shared memory, the work of a block,
// the producer that fills the ring, and how a consumer rounds and writes h. Gemm says how a tile is
// shaped (GatedGemm, GatedPingpong).
#pragma once

#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels::sm90 {

struct GatedMaps {
  CUtensorMap x, w_gate, w_up, h;
};

template <typename Gemm>
struct GatedShared {
  std::uint32_t stages = 0, hands = 0, full = 0, empty = 0;

  __device__ explicit GatedShared(const void* raw) {
    stages = (shared_address(raw) + kSwizzleAlignment - 1) / kSwizzleAlignment * kSwizzleAlignment;
    hands = stages + Gemm::kStages * Gemm::Shape::kStageBytes;
    full = hands + Gemm::kHandsBytes;
    empty = full + Gemm::kStages * sizeof(std::uint64_t);
  }
  __device__ std::uint32_t stage(int i) const { return stages + i * Gemm::Shape::kStageBytes; }
  __device__ std::uint32_t hand(int consumer) const {
    return hands + consumer * 2 * Gemm::kHandBytes;
  }
  __device__ std::uint32_t full_at(int i) const { return full + i * 8; }
  __device__ std::uint32_t empty_at(int i) const { return empty + i * 8; }
};

// What a block works on: tiles first, first + step, ...
struct GatedWork {
  const TileRaster& raster;
  int k = 0;
  int rank = 0;  // in the cluster
  int first = 0;
  int step = 0;

  __device__ bool is_last(int tile) const { return tile + step >= raster.count(); }
  __device__ int stages() const { return (k + kStageColumns - 1) / kStageColumns; }
  // Rows of x above the tile.
  template <typename Gemm>
  __device__ int row(const TilePosition& tile) const {
    return (tile.row * Gemm::kCluster + rank) * kTileRows;
  }
};

template <typename Gemm>
__device__ inline GatedWork work_of_block(const TileRaster& raster, int k) {
  return {raster, k, Gemm::kCluster > 1 ? static_cast<int>(cluster_rank()) : 0,
          static_cast<int>(blockIdx.x) / Gemm::kCluster,
          static_cast<int>(gridDim.x) / Gemm::kCluster};
}

template <typename Gemm>
struct GatedProducer {
  const GatedMaps& maps;
  const GatedShared<Gemm>& shared;
  const GatedWork& work;

  __device__ void run() const {
    const int stages = work.stages();
    RingPosition<Gemm::kStages> at;
    // Weights are no kernel's result: as many as the ring holds are fetched before the kernel ahead
    // of this one has ended.
    const int ahead = min(Gemm::kStages, stages);
    const TilePosition first = work.raster.at(work.first);
    for (int i = 0; i < ahead; ++i) {
      barrier_expect_bytes(shared.full_at(i), Gemm::Shape::kStageBytes);
      load_w(first, i, i);
    }
    wait_for_previous_kernel();
    for (int i = 0; i < ahead; ++i, at.advance()) load_x(first, i, i);
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      const TilePosition place = work.raster.at(tile);
      for (int i = tile == work.first ? ahead : 0; i < stages; ++i, at.advance()) {
        barrier_wait(shared.empty_at(at.stage), at.parity ^ 1);
        barrier_expect_bytes(shared.full_at(at.stage), Gemm::Shape::kStageBytes);
        load_w(place, i, at.stage);
        load_x(place, i, at.stage);
      }
    }
  }

  __device__ void load_x(const TilePosition& tile, int i, int stage) const {
    load_box(maps.x, shared.stage(stage), shared.full_at(stage), i * kStageColumns,
             work.row<Gemm>(tile));
  }

  __device__ void load_w(const TilePosition& tile, int i, int stage) const {
    const std::uint32_t gate = shared.stage(stage) + Gemm::Shape::kXBytes;
    const std::uint32_t up = gate + Gemm::Shape::kWBytes / 2;
    const std::uint32_t full = shared.full_at(stage);
    const int column = i * kStageColumns, row = tile.col * Gemm::kColumns;
    if constexpr (Gemm::kCluster == 1) {
      load_box(maps.w_gate, gate, full, column, row);
      load_box(maps.w_up, up, full, column, row);
    } else {
      static_assert(Gemm::kCluster == 2);
      constexpr std::uint16_t kBothBlocks = 3;
      if (work.rank == 0) {
        load_box_multicast(maps.w_gate, gate, full, column, row, kBothBlocks);
      } else {
        load_box_multicast(maps.w_up, up, full, column, row, kBothBlocks);
      }
    }
  }
};

// Two neighbours.
template <typename Gemm>
__device__ inline std::uint32_t gated(std::uint32_t g, std::uint32_t u) {
  using T = typename Gemm::T;
  using Functor = typename Gemm::Functor;
  const float2 gate = unpack<T>(g), up = unpack<T>(u);
  return pack<T>(Functor::of(gate.x) * up.x, Functor::of(gate.y) * up.y);
}

// By a consumer that has read it, to every block of the cluster, since all wrote a part of the
// stage.
template <typename Gemm>
__device__ inline void release_stage(const GatedShared<Gemm>& shared, int stage) {
  const int thread = threadIdx.x % kWarpgroup;
  if constexpr (Gemm::kCluster == 1) {
    if (thread == 0) barrier_arrive(shared.empty_at(stage));
  } else {
    if (thread % 32 == 0 && thread / 32 < Gemm::kCluster) {
      barrier_arrive_at(shared.empty_at(stage), thread / 32);
    }
  }
}

template <typename T, int kCount>
__device__ inline std::uint32_t rounded(const float (&d)[kCount], int i) {
  return pack<T>(d[i], d[i + 1]);
}

// 16 columns of the warp's 16 rows below `first` of the warpgroup's: four 8x8 matrices, two down
// and two across, word(0), (2), (4) and (6). Lane l gives the address of row l % 8 of matrix l / 8.
template <typename Gemm, typename Word>
__device__ inline void write_columns(int pair, std::uint32_t hand, int first, const Word& word) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % kWarpgroup / 32;
  const int row = first + warp * 16 + lane / 8 % 2 * 8 + lane % 8;
  const int chunk = pair * 2 + lane / 16;  // of eight columns, 16 bytes
  constexpr int kChunks = Gemm::kPanel / 8;
  // The swizzle of a box as wide as a panel: 16-byte chunks change places by the row.
  const int place = chunk % kChunks ^ (row / (8 / kChunks)) % kChunks;
  store_matrices(hand + chunk / kChunks * Gemm::kPanelBytes + row * Gemm::kPanel * 2 + place * 16,
                 word(0), word(2), word(4), word(6));
}

template <typename Gemm>
__device__ void prepare_barriers(const GatedMaps& maps, const GatedShared<Gemm>& shared) {
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&maps.x, &maps.w_gate, &maps.w_up, &maps.h}) prefetch_map(*map);
    for (int i = 0; i < Gemm::kStages; ++i) {
      barrier_init(shared.full_at(i), 1);
      barrier_init(shared.empty_at(i), Gemm::kReaders * Gemm::kCluster);
    }
    fence_barrier_init();
  }
  if constexpr (Gemm::kCluster > 1) {
    cluster_sync();
  } else {
    __syncthreads();
  }
}

}  // namespace fusegate::kernels::sm90
