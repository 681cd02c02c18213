// The gated product of gated_gemm.cuh with consumers that take turns: each has a tile of its own,
// of 128 rows, and while one multiplies, the other computes the activation of its tile and stores
// h. The tensor cores then wait only at a block's first and last tile. The turn passes on when the
// last product of a tile is queued.
//
// Unlike in gated_gemm.cuh, sums of g and u do not go through shared memory, and only consumers
// compute.
#pragma once

#include "kernels/cuda/gemm/sm90/gated_tile.cuh"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::sm90 {

// Named barrier: a consumer's turn; the next number is the second consumer's.
inline constexpr int kTurn = 1, kTurnThreads = kConsumers * kWarpgroup;

// kColumns: of h. Rows: what a kernel knows of h beside its map.
template <typename T_, typename Functor_, int kColumns_, int kStages_, int kCluster_,
          typename Rows_ = OutputRows>
struct GatedPingpong {
  using T = T_;
  using Functor = Functor_;  // the activation
  using Rows = Rows_;
  using Maps = GatedMaps;
  using Work = GatedWork;
  using Shape = TileShape<T, 2 * kColumns_, kStages_>;
  static constexpr int kColumns = kColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kCluster = kCluster_;
  static constexpr int kReaders = 1;  // consumers that read a stage
  static constexpr int kPieces = 1;   // of weights
  using Output = OutputTile<T, kColumns, kTileRows>;
  static constexpr int kHandBytes = Output::kBytes;  // a consumer's tile of h
  static constexpr int kHandsBytes = kConsumers * kHandBytes;
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);
};

inline constexpr int kTurnHalves = kTileRows / 64;  // a wgmma multiplies 64 rows

// A consumer's tiles: multiplies each when it is its turn, and calls finish(its sums, tile).
template <typename Gemm, typename Finish>
__device__ inline void take_turns(const TileShared<Gemm>& shared, const typename Gemm::Work& work,
                                  int number, const Finish& finish) {
  using Shape = typename Gemm::Shape;
  const int stages = work.template stages<typename Gemm::T>();
  RingPosition<Gemm::kStages> at;
  if (number == 1) {
    named_arrive(kTurn, kTurnThreads);  // the first turn is the first consumer's
    at.advance_by(stages);
  }
  for (int tile = work.first + number * work.step; tile < work.raster.count();
       tile += kConsumers * work.step) {
    Sums<kTurnHalves, Shape::kWidth / 2> d;
    named_sync(kTurn + number, kTurnThreads);
    multiply_tile<Shape>(
        d, shared, at, stages, {}, [&](int stage) { release_stage<Gemm>(shared, stage); },
        [&] {  // the other's turn, unless it has no tile left
          if (!work.is_last(tile)) named_arrive(kTurn + (number ^ 1), kTurnThreads);
        });
    at.advance_by(stages);  // the other's tile
    finish(d, work.raster.at(tile));
  }
}

template <typename Gemm>
struct PingpongConsumer {
  const GatedMaps& maps;
  const TileShared<Gemm>& shared;
  const typename Gemm::Work& work;
  const typename Gemm::Rows& h;
  int number = 0;

  using TileSums = Sums<kTurnHalves, Gemm::Shape::kWidth / 2>;

  __device__ void run() const {
    take_turns<Gemm>(shared, work, number, [&](const TileSums& d, const TilePosition& tile) {
      store_gated<Gemm>(maps, shared.hand(number), number, d, h, tile.col * Gemm::kColumns,
                        work.template row<Gemm>(tile));
    });
    if (threadIdx.x % kWarpgroup == 0) wait_stores();
  }
};

// One cluster works on a tile of kCluster tiles, one above the other.
template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    gated_pingpong_kernel(const __grid_constant__ GatedMaps maps,
                          const __grid_constant__ TileRaster raster,
                          const __grid_constant__ typename Gemm::Rows h, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const GatedWork work{work_of_block<Gemm>(raster, h.rows, k)};
  start_block(shared, maps);
  let_next_kernel_start();
  run_block<Gemm>(
      [&](int consumer) {
        PingpongConsumer<Gemm>{maps, shared, work, h, consumer}.run();
      },
      [&] {
        GatedProducer<Gemm>{maps, shared, work}.run();
      });
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
