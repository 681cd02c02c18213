// The GEMM for problems that fill the GPU: one block an SM, each working through many tiles.
//
// - A cluster of two blocks takes two tiles one above the other, which multiply the same rows of w:
//   each block loads half of these and the TMA writes them to both, a third less from the L2.
//
// What it leaves: the epilogue is not hidden. Both consumers reach theirs at about the same time,
// since the ring is too short to hold them apart; setting one ahead changed nothing. At
// 8192 x 3072 x 768 a tile's products take 12,750 SM cycles and its epilogue 3,250, of which GeGLU
// is 1,940 (an H200, by leaving it out). Rounding a tile's sums and finishing them piece by piece
// behind the next tile's wgmmas took longer still: a piece of 16 columns took 385 cycles in each
// warp, and with the 300 that queueing a stage takes that is more than the stage's products.
#pragma once

#include "kernels/cuda/sm90/gemm_tile.cuh"
#include "kernels/cuda/tile_raster.h"

namespace fusegate::sm90 {

// Columns of out that one TMA store writes: the box's row is the swizzle's width.
template <int kColumns>
inline constexpr int kPanelColumns = kColumns % 64 == 0 ? 64 : 32;

template <typename Shape_, int kCluster_>
struct PersistentGemm {
  using Shape = Shape_;
  using T = typename Shape::T;
  static constexpr int kCluster = kCluster_;
  static constexpr int kStages = Shape::kStages;
  static constexpr int kPanel = kPanelColumns<Shape::kColumns>;
  static constexpr int kPanels = Shape::kColumns / kPanel;
  static constexpr int kPanelBytes = kConsumerRows * kPanel * 2;
  static constexpr int kOutBytes = kConsumers * kPanels * kPanelBytes;
  static constexpr int kSwizzleAlignment = 1024;
  static constexpr int kSharedBytes = kStages * Shape::kStageBytes + kOutBytes +
                                      static_cast<int>(sizeof(RingBarriers<kStages>)) +
                                      kSwizzleAlignment;
  static_assert(kSharedBytes <= 227 * 1024);
};

template <typename Gemm>
struct SharedLayout {
  std::uint32_t stages = 0, out = 0, full = 0, empty = 0;

  __device__ explicit SharedLayout(const void* raw) {
    constexpr std::uint32_t kAlign = Gemm::kSwizzleAlignment;
    stages = (shared_address(raw) + kAlign - 1) / kAlign * kAlign;
    out = stages + Gemm::kStages * Gemm::Shape::kStageBytes;
    full = out + Gemm::kOutBytes;
    empty = full + Gemm::kStages * sizeof(std::uint64_t);
  }
  __device__ std::uint32_t stage(int i) const { return stages + i * Gemm::Shape::kStageBytes; }
  __device__ std::uint32_t full_at(int i) const { return full + i * 8; }
  __device__ std::uint32_t empty_at(int i) const { return empty + i * 8; }
};

template <typename Gemm>
class Producer {
 public:
  __device__ Producer(const GemmMaps& maps, const TileRaster& raster, int k,
                      const SharedLayout<Gemm>& shared, int rank)
      : maps_(maps), raster_(raster), k_(k), shared_(shared), rank_(rank) {}

  __device__ void run(int first_tile, int tile_step) {
    const int steps = (k_ + kStageColumns - 1) / kStageColumns;
    RingPosition<Gemm::kStages> at;
    // Weights are no kernel's result: as many as the ring holds are fetched before the kernel ahead
    // of this one has ended.
    const int ahead = first_tile < raster_.count() ? min(Gemm::kStages, steps) : 0;
    const TilePosition first = raster_.at(first_tile);
    for (int i = 0; i < ahead; ++i) {
      barrier_expect_bytes(shared_.full_at(i), Gemm::Shape::kStageBytes);
      load_w(first, i, i);
    }
    wait_for_previous_kernel();
    for (int i = 0; i < ahead; ++i, at.advance()) load_x(first, i, i);
    for (int tile = first_tile; tile < raster_.count(); tile += tile_step) {
      const TilePosition place = raster_.at(tile);
      for (int step = tile == first_tile ? ahead : 0; step < steps; ++step, at.advance()) {
        barrier_wait(shared_.empty_at(at.stage), at.parity ^ 1);
        barrier_expect_bytes(shared_.full_at(at.stage), Gemm::Shape::kStageBytes);
        load_w(place, step, at.stage);
        load_x(place, step, at.stage);
      }
    }
  }

 private:
  using Shape = typename Gemm::Shape;

  __device__ void load_x(const TilePosition& place, int step, int stage) const {
    load_box(maps_.x, shared_.stage(stage), shared_.full_at(stage), step * kStageColumns,
             (place.row * Gemm::kCluster + rank_) * kTileRows);
  }

  __device__ void load_w(const TilePosition& place, int step, int stage) const {
    if constexpr (Gemm::kCluster == 1) {
      load_half(maps_.w_first, place, step, stage, 0);
      load_half(maps_.w_second, place, step, stage, 1);
    } else {
      load_half(rank_ == 0 ? maps_.w_first : maps_.w_second, place, step, stage, rank_);
    }
  }

  __device__ void load_half(const CUtensorMap& map, const TilePosition& place, int step, int stage,
                            int half) const {
    constexpr int kHalfRows = Shape::kWidth / 2;
    const int row = place.col * Shape::kColumns + (Shape::kGated ? 0 : half * kHalfRows);
    const std::uint32_t to = shared_.stage(stage) + Shape::kXBytes + half * Shape::kWBytes / 2;
    const int column = step * kStageColumns;
    if constexpr (Gemm::kCluster == 1) {
      load_box(map, to, shared_.full_at(stage), column, row);
    } else {
      constexpr std::uint16_t kAllBlocks = (1 << Gemm::kCluster) - 1;
      load_box_multicast(map, to, shared_.full_at(stage), column, row, kAllBlocks);
    }
  }

  const GemmMaps& maps_;
  const TileRaster& raster_;
  int k_;
  const SharedLayout<Gemm>& shared_;
  int rank_;
};

template <typename Gemm>
class Consumer {
 public:
  __device__ Consumer(const GemmMaps& maps, const TileRaster& raster, int k,
                      const SharedLayout<Gemm>& shared, int rank, int consumer)
      : maps_(maps),
        raster_(raster),
        k_(k),
        shared_(shared),
        rank_(rank),
        consumer_(consumer),
        thread_(threadIdx.x % kWarpgroup),
        out_(shared.out + consumer * Gemm::kPanels * Gemm::kPanelBytes) {}

  __device__ void run(int first_tile, int tile_step) {
    const int steps = (k_ + kStageColumns - 1) / kStageColumns;
    for (int tile = first_tile; tile < raster_.count(); tile += tile_step) {
      float d[Shape::kWidth / 2];
      multiply_tile<Shape>(d, shared_, at_, steps, consumer_, [&](int stage) { release(stage); });
      store(d, raster_.at(tile));
    }
    if (thread_ == 0) wait_stores();
    __syncwarp();
  }

 private:
  using Shape = typename Gemm::Shape;
  static constexpr int kFirstStoreBarrier = 1;  // and the next, one a consumer

  // To every block of the cluster, since all wrote a part of the stage.
  __device__ void release(int stage) const {
    if constexpr (Gemm::kCluster == 1) {
      if (thread_ == 0) barrier_arrive(shared_.empty_at(stage));
    } else {
      if (thread_ % 32 == 0 && thread_ / 32 < Gemm::kCluster) {
        barrier_arrive_at(shared_.empty_at(stage), thread_ / 32);
      }
    }
  }

  // Through shared memory, which the last tile's stores must have left.
  __device__ void store(const float (&d)[Shape::kWidth / 2], const TilePosition& place) const {
    const int barrier = kFirstStoreBarrier + consumer_;
    if (thread_ == 0) wait_stores_read();
    named_sync(barrier, kWarpgroup);
#pragma unroll
    for (int pair = 0; pair < Shape::kColumns / 16; ++pair) write_columns(d, pair);
    fence_async_proxy();
    named_sync(barrier, kWarpgroup);
    if (thread_ != 0) return;
    const int row = (place.row * Gemm::kCluster + rank_) * kTileRows + consumer_ * kConsumerRows;
    for (int panel = 0; panel < Gemm::kPanels; ++panel) {
      store_box(maps_.out, out_ + panel * Gemm::kPanelBytes,
                place.col * Shape::kColumns + panel * Gemm::kPanel, row);
    }
    commit_stores();
  }

  // 16 columns of the warp's 16 rows: four 8x8 matrices, two down and two across. Lane l gives the
  // address of row l % 8 of matrix l / 8.
  __device__ void write_columns(const float (&d)[Shape::kWidth / 2], int pair) const {
    const int lane = thread_ % 32;
    const int row = thread_ / 32 * 16 + lane / 8 % 2 * 8 + lane % 8;
    const int chunk = pair * 2 + lane / 16;  // of eight columns, 16 bytes
    constexpr int kChunks = Gemm::kPanel / 8;
    // The swizzle of a box as wide as a panel: 16-byte chunks change places by the row.
    const int place = chunk % kChunks ^ (row / (8 / kChunks)) % kChunks;
    const std::uint32_t address =
        out_ + chunk / kChunks * Gemm::kPanelBytes + row * Gemm::kPanel * 2 + place * 16;
    const int i = pair * 8;
    store_matrices(address, result(d, i), result(d, i + 2), result(d, i + 4), result(d, i + 6));
  }

  // Elements i and i + 1 of a thread's part of the tile.
  static __device__ std::uint32_t result(const float (&d)[Shape::kWidth / 2], int i) {
    if constexpr (Shape::kGated) {
      constexpr int kUp = Shape::kWidth / 4;
      return pack<typename Shape::T>(geglu(d[i], d[i + kUp]), geglu(d[i + 1], d[i + 1 + kUp]));
    } else {
      return pack<typename Shape::T>(d[i], d[i + 1]);
    }
  }

  const GemmMaps& maps_;
  const TileRaster& raster_;
  int k_;
  const SharedLayout<Gemm>& shared_;
  int rank_, consumer_, thread_;
  std::uint32_t out_;
  RingPosition<Gemm::kStages> at_;
};

template <typename Gemm>
__device__ void prepare_barriers(const SharedLayout<Gemm>& shared) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < Gemm::kStages; ++i) {
      barrier_init(shared.full_at(i), 1);
      barrier_init(shared.empty_at(i), kConsumers * Gemm::kCluster);
    }
    fence_barrier_init();
  }
  if constexpr (Gemm::kCluster > 1) {
    cluster_sync();
  } else {
    __syncthreads();
  }
}

template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    persistent_gemm_kernel(const __grid_constant__ GemmMaps maps,
                           const __grid_constant__ TileRaster raster, int k) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const SharedLayout<Gemm> shared(raw);
  const int rank = Gemm::kCluster > 1 ? static_cast<int>(cluster_rank()) : 0;
  const int first_tile = blockIdx.x / Gemm::kCluster, tile_step = gridDim.x / Gemm::kCluster;
  if (threadIdx.x == 0) prefetch(maps);
  prepare_barriers<Gemm>(shared);
  let_next_kernel_start();
  const int warpgroup = warpgroup_of_warp();
  if (warpgroup == 0) {
    give_registers_up<kProducerRegisters>();
    if (threadIdx.x == 0) Producer<Gemm>(maps, raster, k, shared, rank).run(first_tile, tile_step);
    __syncwarp();
  } else {
    take_registers<kConsumerRegisters>();
    Consumer<Gemm>(maps, raster, k, shared, rank, warpgroup - 1).run(first_tile, tile_step);
  }
  // No block may end while another of its cluster writes to it or arrives at its barriers.
  if constexpr (Gemm::kCluster > 1) cluster_sync();
#endif  // other architectures never launch it
}

}  // namespace fusegate::sm90
