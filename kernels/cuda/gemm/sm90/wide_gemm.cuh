// out [m, n] = x [m, k] w [n, k]^T for many rows: tiles of 256 x 192, of which each consumer
// multiplies 128 rows. A stage of w serves twice the rows that it does in a tile of 128: fewer
// bytes through the L2 and less energy per product, where the GPU's power is the limit. A cluster
// of two blocks takes two tiles side by side; each loads half of the rows of x and the TMA writes
// them to both. One block an SM, each working through many tiles; it loads its first weights before
// the kernel ahead of it has ended.
#pragma once

#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/gemm/tile_raster.h"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::sm90 {

struct WideMaps {
  CUtensorMap x, w, out;  // boxes of 128 rows of x, of half a tile's rows of w

  __device__ void prefetch() const {
    for (const CUtensorMap* map : {&x, &w, &out}) prefetch_map(*map);
  }
};

template <typename T_, int kColumns_, int kStages_, typename Out_ = T_, typename Scales_ = Unscaled,
          bool kPromotes_ = false>
struct WideGemm {
  using T = T_;
  using Out = Out_;
  using Scales = Scales_;
  static constexpr bool kPromotes = kPromotes_;  // a stage's sums are added up in fp32
  static constexpr int kColumns = kColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kRows = kConsumers * kTileRows;
  static constexpr int kCluster = 2;
  static constexpr int kReaders = kConsumers;
  using Shape = TileShape<T, kColumns, kStages, kRows>;
  using Panel = OutputTile<Out, 64, kTileRows>;  // what a consumer stores at a time
  static constexpr int kPanels = kColumns / Panel::kColumns;
  static_assert(kColumns % Panel::kColumns == 0);
  static constexpr int kHandBytes = Panel::kBytes;
  static constexpr int kHandsBytes = kConsumers * kHandBytes;
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);
};

// The cluster's tiles: two of kColumns columns. A block's is the rank-th. Raster: their order, a
// TileRaster or what has its functions.
template <typename Raster>
struct WideWork {
  const Raster& raster;
  int stages = 0;
  int rank = 0;
  int first = 0;
  int step = 0;

  template <typename Gemm>
  __device__ int row(const TilePosition& tile) const {
    return tile.row * Gemm::kRows;
  }
  template <typename Gemm>
  __device__ int column(const TilePosition& tile) const {
    return (tile.col * Gemm::kCluster + rank) * Gemm::kColumns;
  }
};

template <typename Gemm, typename Raster>
__device__ inline WideWork<Raster> wide_work_of_block(const Raster& raster, int k) {
  constexpr int kColumns = kStageColumns<typename Gemm::T>;
  return {raster, (k + kColumns - 1) / kColumns, static_cast<int>(cluster_rank()),
          static_cast<int>(blockIdx.x) / Gemm::kCluster,
          static_cast<int>(gridDim.x) / Gemm::kCluster};
}

// maps: of x and w, or of a gated product's two weights.
template <typename Gemm, typename Maps, typename Raster>
struct WideProducer {
  const Maps& maps;
  const TileShared<Gemm>& shared;
  const WideWork<Raster>& work;

  __device__ void run() const {
    RingPosition<Gemm::kStages> at;
    // Weights are not written by kernels, so they need not wait for the kernel ahead.
    const int ahead = min(Gemm::kStages, work.stages);
    const TilePosition first = work.raster.at(work.first);
    for (int i = 0; i < ahead; ++i) load_w(first, i, i);
    wait_for_previous_kernel();
    for (int i = 0; i < ahead; ++i, at.advance()) load_x(first, i, i);
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      const TilePosition position = work.raster.at(tile);
      for (int i = tile == work.first ? ahead : 0; i < work.stages; ++i, at.advance()) {
        barrier_wait(shared.empty_at(at.stage), at.parity ^ 1);
        load_w(position, i, at.stage);
        load_x(position, i, at.stage);
      }
    }
  }

  __device__ void load_w(const TilePosition& tile, int i, int stage) const {
    const std::uint32_t w = shared.stage(stage) + Gemm::Shape::kXBytes;
    const int column = i * kStageColumns<typename Gemm::T>, row = work.template column<Gemm>(tile);
    barrier_expect_bytes(shared.full_at(stage), Gemm::Shape::kStageBytes);
    if constexpr (requires { maps.w_up; }) {
      load_box(maps.w_gate, w, shared.full_at(stage), column, row);
      load_box(maps.w_up, w + Gemm::Shape::kWBytes / 2, shared.full_at(stage), column, row);
    } else {
      constexpr int kHalf = Gemm::kColumns / 2;
      load_box(maps.w, w, shared.full_at(stage), column, row);
      load_box(maps.w, w + Gemm::Shape::kWBytes / 2, shared.full_at(stage), column, row + kHalf);
    }
  }

  // This block's half of the rows, to both.
  __device__ void load_x(const TilePosition& tile, int i, int stage) const {
    constexpr std::uint16_t kBothBlocks = 3;
    const int row = work.rank * kTileRows;
    load_box_multicast(maps.x, shared.stage(stage) + row * kStageRowBytes, shared.full_at(stage),
                       i * kStageColumns<typename Gemm::T>, work.template row<Gemm>(tile) + row,
                       kBothBlocks);
  }
};

template <typename Gemm, typename Maps, typename Raster>
struct WideConsumer {
  const Maps& maps;
  const TileShared<Gemm>& shared;
  const WideWork<Raster>& work;
  int number = 0;
  typename Gemm::Scales scales;

  using Shape = typename Gemm::Shape;
  using Panel = typename Gemm::Panel;
  static constexpr int kHalves = kTileRows / 64;
  using TileSums = Sums<kHalves, Shape::kWidth / 2>;
  static constexpr int kOwnBarrier = 1;  // named; the next number is the second consumer's

  __device__ void run() const {
    RingPosition<Gemm::kStages> at;
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      TileSums d;
      multiply(d, at, work.raster.at(tile));
      const TilePosition position = work.raster.at(tile);
#pragma unroll
      for (int panel = 0; panel < Gemm::kPanels; ++panel) store(d, position, panel);
    }
    if (threadIdx.x % kWarpgroup == 0) wait_stores();
  }

  __device__ void multiply(TileSums& d, RingPosition<Gemm::kStages>& at,
                           const TilePosition& tile) const {
    const auto release = [&](int stage) { release_stage<Gemm>(shared, stage); };
    const ConsumerRows rows = rows_of_consumer<Shape>(number);
    if constexpr (Gemm::kPromotes) {
      multiply_tile_promoted<Shape>(d, shared, at, work.stages, rows, release,
                                    scales.promotion(work.template row<Gemm>(tile) + rows.x,
                                                     work.template column<Gemm>(tile)));
    } else {
      multiply_tile<Shape>(d, shared, at, work.stages, rows, release, [] {});
    }
  }

 private:
  __device__ void store(const TileSums& d, const TilePosition& tile, int panel) const {
    const std::uint32_t hand = shared.hand(number);
    const int warp = threadIdx.x % kWarpgroup / 32;
    const int column = work.template column<Gemm>(tile) + panel * Panel::kColumns;
    const int row = work.template row<Gemm>(tile) + number * kTileRows;
    const bool stores = threadIdx.x % kWarpgroup == 0;
    if (stores) wait_stores_read();  // the panel before
    named_sync(kOwnBarrier + number, kWarpgroup);
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const float* const sums = d[half] + panel * Panel::kColumns / 2;
      const auto factors = scales.at(row + half * 64, column);
      write_rows<Panel>(hand, half * 64 + warp * 16, 0, [&](int i) {
        return factors.of({sums[i], sums[i + 1]}, i);
      });
    }
    fence_async_proxy();
    named_sync(kOwnBarrier + number, kWarpgroup);
    if (stores) store_tile<Panel>(maps.out, hand, column, row);
  }
};

// Given: Gemm::Scales, or nothing where they are Unscaled.
template <typename Gemm, typename... Given>
__global__ void __launch_bounds__(kBlockThreads, 1)
    wide_gemm_kernel(const __grid_constant__ WideMaps maps,
                     const __grid_constant__ TileRaster raster, int k, Given... scales) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const auto work = wide_work_of_block<Gemm>(raster, k);
  start_block(shared, maps);
  let_next_kernel_start();
  const typename Gemm::Scales factors{scales...};
  run_block<Gemm>(
      [&](int consumer) {
        WideConsumer<Gemm, WideMaps, TileRaster>{maps, shared, work, consumer, factors}.run();
      },
      [&] {
        WideProducer<Gemm, WideMaps, TileRaster>{maps, shared, work}.run();
      });
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
