// The gated product of gated_gemm.cuh with consumers that take turns: each has a tile of its own,
// of 128 rows, and while one multiplies, the other computes the activation of its tile and stores
// h. The tensor cores then wait for nobody but at a block's first and last tile. The turn goes on
// when the last product of a tile is queued.
//
// Beside gated_gemm.cuh no sums of g and u go through shared memory, and no warps but the
// consumers' compute. A consumer holds 128 x 2 kColumns sums, so that two need more registers than
// a third of an SM's each: the producer's warpgroup gives them away.
#pragma once

#include "kernels/cuda/gemm/sm90/gated_tile.cuh"

namespace fusegate::kernels::sm90 {

// Registers of a thread. 128 x 40 + 256 x 232 of the SM's 65,536.
inline constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;
// Named barriers: a consumer's turn (the next number is the second consumer's), and its own
// threads.
inline constexpr int kTurn = 1, kOwn = 3, kTurnThreads = kConsumers * kWarpgroup;

// kColumns: of h.
template <typename T_, typename Functor_, int kColumns_, int kStages_, int kCluster_>
struct GatedPingpong {
  using T = T_;
  using Functor = Functor_;  // the activation
  using Shape = TileShape<T, 2 * kColumns_, kStages_>;
  static constexpr int kColumns = kColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kCluster = kCluster_;
  static constexpr int kReaders = 1;  // consumers that read a stage
  static constexpr int kStoreRows = kTileRows;
  static constexpr int kPanel = kColumns % 64 == 0 ? 64 : 32;
  static constexpr int kPanels = kColumns / kPanel;
  static constexpr int kPanelBytes = kTileRows * kPanel * 2;
  // A consumer's tile of h.
  static constexpr int kHandBytes = kPanels * kPanelBytes;
  static constexpr int kHandsBytes = kConsumers * kHandBytes;
  static constexpr int kSharedBytes = kStages * Shape::kStageBytes + kHandsBytes +
                                      static_cast<int>(sizeof(RingBarriers<kStages>)) +
                                      static_cast<int>(kSwizzleAlignment);
  static_assert(kSharedBytes <= kMostSharedBytes);
};

template <typename Gemm>
struct PingpongConsumer {
  const GatedMaps& maps;
  const GatedShared<Gemm>& shared;
  const GatedWork& work;
  int number = 0;

  using Shape = typename Gemm::Shape;
  static constexpr int kHalves = kTileRows / 64;  // a wgmma multiplies 64 rows
  static constexpr int kUp = Shape::kWidth / 4;   // of a thread's sums, where u's begin
  using Sums = float[kHalves][Shape::kWidth / 2];

  __device__ void run() const {
    const int stages = work.stages();
    RingPosition<Gemm::kStages> at;
    if (number == 1) {
      named_arrive(kTurn, kTurnThreads);  // the first turn is the first consumer's
      at.advance_by(stages);
    }
    for (int tile = work.first + number * work.step; tile < work.raster.count();
         tile += kConsumers * work.step) {
      Sums d;
      named_sync(kTurn + number, kTurnThreads);
      multiply(d, at, stages, tile);
      at.advance_by(stages);  // the other's tile
      store(d, work.raster.at(tile));
    }
    if (threadIdx.x % kWarpgroup == 0) wait_stores();
  }

 private:
  __device__ void multiply(Sums& d, RingPosition<Gemm::kStages>& at, int steps, int tile) const {
    int previous = 0;
    for (int step = 0; step < steps; ++step) {
      barrier_wait(shared.full_at(at.stage), at.parity);
      pin(d);
      wgmma_fence();
      multiply_stage(d, shared.stage(at.stage), step == 0);
      wgmma_commit();
      pin(d);
      if (step > 0) {
        wgmma_wait<1>();
        release(previous);
      }
      previous = at.stage;
      at.advance();
    }
    // The other's, unless it has no tile left.
    if (tile + work.step < work.raster.count()) {
      named_arrive(kTurn + (number ^ 1), kTurnThreads);
    }
    wgmma_wait<0>();
    pin(d);
    release(previous);
  }

  static __device__ void pin(Sums& d) {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) wgmma_pin(d[half]);
  }

  static __device__ void multiply_stage(Sums& d, std::uint32_t stage, bool first) {
    const std::uint64_t a = matrix_descriptor(stage);
    const std::uint64_t b = matrix_descriptor(stage + Shape::kXBytes);
    // 64 rows of 128 bytes, in the 16-byte units of a descriptor's address.
    constexpr int kHalf = 64 * kStageColumns * 2 / 16;
#pragma unroll
    for (int step = 0; step < kStageColumns / 16; ++step) {
#pragma unroll
      for (int half = 0; half < kHalves; ++half) {
        wgmma<typename Gemm::T, Shape::kWidth>(d[half], a + half * kHalf + 2 * step, b + 2 * step,
                                               !first || step > 0);
      }
    }
  }

  __device__ void release(int stage) const { release_stage<Gemm>(shared, stage); }

  __device__ void store(const Sums& d, const TilePosition& tile) const {
    const bool stores = threadIdx.x % kWarpgroup == 0;
    if (stores) wait_stores_read();  // of this consumer's tile before
    named_sync(kOwn + number, kWarpgroup);
    const std::uint32_t hand = shared.hands + number * Gemm::kHandBytes;
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
#pragma unroll
      for (int pair = 0; pair < Gemm::kColumns / 16; ++pair) {
        write_columns<Gemm>(pair, hand, half * 64, [&](int i) {
          const int at = pair * 8 + i;
          return gated<Gemm>(rounded<typename Gemm::T>(d[half], at),
                             rounded<typename Gemm::T>(d[half], at + kUp));
        });
      }
    }
    fence_async_proxy();
    named_sync(kOwn + number, kWarpgroup);
    if (stores) {
      for (int panel = 0; panel < Gemm::kPanels; ++panel) {
        store_box(maps.h, hand + panel * Gemm::kPanelBytes,
                  tile.col * Gemm::kColumns + panel * Gemm::kPanel, work.row<Gemm>(tile));
      }
      commit_stores();
    }
  }
};

// One cluster works on a tile of kCluster tiles, one above the other.
template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    gated_pingpong_kernel(const __grid_constant__ GatedMaps maps,
                          const __grid_constant__ TileRaster raster, int k) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const GatedShared<Gemm> shared(raw);
  const GatedWork work = work_of_block<Gemm>(raster, k);
  prepare_barriers<Gemm>(maps, shared);
  let_next_kernel_start();
  const int warpgroup = warpgroup_of_warp();
  if (warpgroup > 0) {
    take_registers<kConsumerRegisters>();
    PingpongConsumer<Gemm>{maps, shared, work, warpgroup - 1}.run();
  } else {
    give_registers<kProducerRegisters>();
    if (threadIdx.x == 0) GatedProducer<Gemm>{maps, shared, work}.run();
    __syncwarp();
  }
  // No block may end while another of its cluster writes to it or arrives at its barriers.
  if constexpr (Gemm::kCluster > 1) cluster_sync();
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
