// Parts of the gated products of sm_90: a block's work, the producer that fills the ring, and how
// a consumer computes and writes h. Gemm is GatedGemm or GatedPingpong.
#pragma once

#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels::sm90 {

struct GatedMaps {
  XMaps x;
  CUtensorMap w_gate, w_up, h;

  __device__ void prefetch() const {
    x.prefetch();
    for (const CUtensorMap* map : {&w_gate, &w_up, &h}) prefetch_map(*map);
  }
};

// Of h in e4m3: the scales of g's and of u's sums, the latter over h's own.
template <typename Scales>
struct QuantizedRows {
  int rows = 0, columns = 0;
  Scales of_gate, of_up;

  __device__ const Scales& gate() const { return of_gate; }
  __device__ const Scales& up() const { return of_up; }
  __device__ AddedUp promotion(int, int) const { return {}; }
};

// h's scales are of what it is: a block's largest element becomes e4m3's largest number.
template <>
struct QuantizedRows<BlockScales> {
  int rows = 0, columns = 0;
  BlockScalesOf<true> of;
  float* h_scales = nullptr;  // [rows, columns / 128], rounded up

  __device__ Unscaled gate() const { return {}; }
  __device__ Unscaled up() const { return {}; }
  __device__ BlockScalesOf<true>::Promotion promotion(int row, int column) const {
    return of.promotion(row, column);
  }
};

// Named barrier of a consumer's own threads; the next number is the second consumer's.
inline constexpr int kOwnBarrier = 6;

// A block works on tiles first, first + step, ... in the order of a TileRaster, or of what has its
// functions.
template <typename Raster>
struct GatedWorkOf {
  const Raster& raster;
  int rows = 0;  // of x
  int k = 0;
  int rank = 0;  // in the cluster
  int first = 0;
  int step = 0;

  __device__ bool is_last(int tile) const { return tile + step >= raster.count(); }
  template <typename T>
  __device__ int stages() const {
    return (k + kStageColumns<T> - 1) / kStageColumns<T>;
  }
  // Rows of x above the tile.
  template <typename Gemm>
  __device__ int row(const TilePosition& tile) const {
    return (tile.row * Gemm::kCluster + rank) * Gemm::Shape::kRows;
  }
};
// Of a problem whose x is all there when the kernels ahead have ended.
struct GatedWork : GatedWorkOf<TileRaster> {
  template <typename Gemm>
  __device__ void await_x(const TilePosition&) const {}
  // Calls use(map, bytes, row) with the boxes of the tile's rows of x, and where they begin.
  template <typename Gemm, typename Maps, typename Use>
  __device__ void with_x(const Maps& maps, const TilePosition& tile, const Use& use) const {
    maps.x.template with_boxes<Gemm::Shape::kRows>(
        rows, row<Gemm>(tile),
        [&](const CUtensorMap& x, int bytes) { use(x, bytes, row<Gemm>(tile)); });
  }
};

template <typename Gemm, typename Raster>
__device__ inline GatedWorkOf<Raster> work_of_block(const Raster& raster, int rows, int k) {
  return {raster,
          rows,
          k,
          Gemm::kCluster > 1 ? static_cast<int>(cluster_rank()) : 0,
          static_cast<int>(blockIdx.x) / Gemm::kCluster,
          static_cast<int>(gridDim.x) / Gemm::kCluster};
}

// A stage of both weights. Piece by piece: rows of gate and, behind them, as many of up.
template <typename Gemm>
__device__ inline void load_weights(const GatedMaps& maps, const TileShared<Gemm>& shared, int rank,
                                    const TilePosition& tile, int i, int stage) {
  constexpr int kBoxBytes = Gemm::Shape::kWBytes / (2 * Gemm::kPieces);
  constexpr int kBoxRows = Gemm::kColumns / Gemm::kPieces;
  const std::uint32_t full = shared.full_at(stage);
  const int column = i * kStageColumns<typename Gemm::T>;
#pragma unroll
  for (int piece = 0; piece < Gemm::kPieces; ++piece) {
    const std::uint32_t gate = shared.stage(stage) + Gemm::Shape::kXBytes + piece * 2 * kBoxBytes;
    const int row = tile.col * Gemm::kColumns + piece * kBoxRows;
    if constexpr (Gemm::kCluster == 1) {
      load_box(maps.w_gate, gate, full, column, row);
      load_box(maps.w_up, gate + kBoxBytes, full, column, row);
    } else {
      static_assert(Gemm::kCluster == 2);
      constexpr std::uint16_t kBothBlocks = 3;
      if (rank == 0) {
        load_box_multicast(maps.w_gate, gate, full, column, row, kBothBlocks);
      } else {
        load_box_multicast(maps.w_up, gate + kBoxBytes, full, column, row, kBothBlocks);
      }
    }
  }
}

template <typename Gemm>
struct GatedProducer {
  const typename Gemm::Maps& maps;
  const TileShared<Gemm>& shared;
  const typename Gemm::Work& work;

  using T = typename Gemm::T;

  struct BoxesOfX {
    const CUtensorMap& map;
    int row = 0;
  };

  __device__ void run() const {
    RingPosition<Gemm::kStages> at;
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      const TilePosition position = work.raster.at(tile);
      work.template with_x<Gemm>(maps, position, [&](const CUtensorMap& x, int x_bytes, int row) {
        load_tile({x, row}, x_bytes + Gemm::Shape::kWBytes, position, tile == work.first, at);
      });
    }
  }

  // bytes: of a stage. The loops are not unrolled, since two kernels that take turns compete for
  // the instruction caches (128 x 768 x 3072: 8.63 us, unrolled 8.74).
  __device__ void load_tile(const BoxesOfX& x, int bytes, const TilePosition& position,
                            bool is_first, RingPosition<Gemm::kStages>& at) const {
    const int stages = work.template stages<T>();
    const auto load_x = [&](int i, int stage) {
      load_box(x.map, shared.stage(stage), shared.full_at(stage), i * kStageColumns<T>, x.row);
    };
    int ahead = 0;
    if (is_first) {
      // Weights are not written by kernels: fetched before the kernel ahead of this one has ended.
      ahead = min(Gemm::kStages, stages);
#pragma unroll 1
      for (int i = 0; i < ahead; ++i) {
        barrier_expect_bytes(shared.full_at(i), bytes);
        load_weights<Gemm>(maps, shared, work.rank, position, i, i);
      }
      wait_for_previous_kernel();
      work.template await_x<Gemm>(position);
#pragma unroll 1
      for (int i = 0; i < ahead; ++i, at.advance()) load_x(i, i);
    } else {
      work.template await_x<Gemm>(position);
    }
#pragma unroll 1
    for (int i = ahead; i < stages; ++i, at.advance()) {
      barrier_wait(shared.empty_at(at.stage), at.parity ^ 1);
      barrier_expect_bytes(shared.full_at(at.stage), bytes);
      load_weights<Gemm>(maps, shared, work.rank, position, i, at.stage);
      load_x(i, at.stage);
    }
  }
};

// Two neighbours of h.
template <typename Gemm>
__device__ inline float2 gated(const float2& gate, const float2& up) {
  using Functor = typename Gemm::Functor;
  return {Functor::of(gate.x) * up.x, Functor::of(gate.y) * up.y};
}

// Writes 64 rows of h, from `row` of the consumer's tile on. d: sums of g, then of u, not rounded
// in between. gate_by, up_by: their factors (scales.cuh).
template <typename Gemm, int kCount, typename Factors>
__device__ inline void write_gated(std::uint32_t tile, int row, const float (&d)[kCount],
                                   const Factors& gate_by, const Factors& up_by) {
  constexpr int kUp = kCount / 2;
  const int warp = threadIdx.x % kWarpgroup / 32;
  write_rows<typename Gemm::Output>(tile, row + warp * 16, 0, [&](int i) {
    return gated<Gemm>(gate_by.of({d[i], d[i + 1]}, i), up_by.of({d[i + kUp], d[i + 1 + kUp]}, i));
  });
}

// Stores what a consumer's threads have written. maps: with h's. column, row: of h.
template <typename Gemm, typename Maps>
__device__ inline void store_written(const Maps& maps, std::uint32_t tile, int number, int column,
                                     int row) {
  fence_async_proxy();
  named_sync(kOwnBarrier + number, kWarpgroup);
  if (threadIdx.x % kWarpgroup == 0) {
    store_tile<typename Gemm::Output>(maps.h, tile, column, row);
  }
}

// Both, of a consumer's whole tile, in its hand, from which the tile before is stored until then.
template <typename Gemm, typename Maps, int kHalves, int kCount, typename Rows>
__device__ inline void store_gated(const Maps& maps, std::uint32_t hand, int number,
                                   const Sums<kHalves, kCount>& d, const Rows& h, int column,
                                   int row) {
  if (threadIdx.x % kWarpgroup == 0) wait_stores_read();
  named_sync(kOwnBarrier + number, kWarpgroup);
#pragma unroll
  for (int half = 0; half < kHalves; ++half) {
    write_gated<Gemm>(hand, half * 64, d[half], h.gate().at(row + half * 64, column),
                      h.up().at(row + half * 64, column));
  }
  store_written<Gemm>(maps, hand, number, column, row);
}

}  // namespace fusegate::kernels::sm90
