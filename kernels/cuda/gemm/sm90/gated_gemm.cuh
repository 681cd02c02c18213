// h = activation(x w_gate^T) * (x w_up^T) in one kernel: a tile's w rows are as many of w_gate's as
// of w_up's, one above the other, so that one wgmma multiplies both and g and u never reach device
// memory. One block an SM, each working through many tiles.
//
// - Beside the producer, the first warpgroup has three warps that finish tiles: the consumers round
//   their sums of g and u into shared memory and go on with the next tile, while the finishers
//   compute GeGLU and store. With the epilogue in the consumers the tensor cores stood still for
//   it: of 16,000 SM cycles a tile at 8192 x 3072 x 768, GeGLU took 1,940 and the rest of the
//   epilogue 1,310 (an H200, by leaving them out). A block's last tile the consumers finish
//   themselves: behind it there is nothing to hide the work, and eight warps are through before
//   three.
// - g and u are rounded to the dtype before GeGLU, as tensors of their own would be; GeGLU is fp32,
//   and h is rounded once.
// - A cluster of two blocks takes two tiles one above the other, which multiply the same weights:
//   each block loads half of these and the TMA writes them to both, a third less from the L2.
#pragma once

#include "kernels/cuda/gemm/sm90/gated_tile.cuh"

namespace fusegate::kernels::sm90 {

inline constexpr int kFinishers = 96;  // threads: warps 1 to 3
// Named barriers, each for the finishers and one consumer: the consumer's sums are there, and may
// be overwritten. The next numbers are the second consumer's.
inline constexpr int kHandFull = 1, kHandFree = 3, kHandThreads = kFinishers + kWarpgroup;
inline constexpr int kFinisherBarrier = 5;

// kColumns: of h.
template <typename T_, typename Functor_, int kColumns_, int kStages_, int kCluster_>
struct GatedGemm {
  using T = T_;
  using Functor = Functor_;  // the activation
  using Shape = TileShape<T, 2 * kColumns_, kStages_>;
  static constexpr int kColumns = kColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kCluster = kCluster_;
  static constexpr int kReaders = kConsumers;  // of a stage
  static constexpr int kStoreRows = kConsumerRows;
  // Columns that one TMA store writes: a box's row is as wide as its swizzle.
  static constexpr int kPanel = kColumns % 64 == 0 ? 64 : 32;
  static constexpr int kPanels = kColumns / kPanel;
  static constexpr int kPanelBytes = kStoreRows * kPanel * 2;
  // What a consumer hands over of g, and as much of u.
  static constexpr int kHandBytes = kPanels * kPanelBytes;
  static constexpr int kHandsBytes = kConsumers * 2 * kHandBytes;
  static constexpr int kSharedBytes = kStages * Shape::kStageBytes + kHandsBytes +
                                      static_cast<int>(sizeof(RingBarriers<kStages>)) +
                                      static_cast<int>(kSwizzleAlignment);
  static_assert(kSharedBytes <= kMostSharedBytes);
};

template <typename Gemm>
struct GatedConsumer {
  const GatedShared<Gemm>& shared;
  const GatedWork& work;
  int number = 0;

  using T = typename Gemm::T;
  using Shape = typename Gemm::Shape;
  using Sums = float[Shape::kWidth / 2];
  static constexpr int kUp = Shape::kWidth / 4;  // of a thread's sums, where u's begin

  __device__ void run() const {
    const int stages = work.stages();
    RingPosition<Gemm::kStages> at;
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      Sums d;
      multiply_tile<Shape>(d, shared, at, stages, number, [&](int stage) { release(stage); });
      named_sync(kHandFree + number, kHandThreads);
      if (work.is_last(tile)) {
        finish(d);
      } else {
        hand_over(d);
      }
      named_arrive(kHandFull + number, kHandThreads);
    }
  }

  __device__ void release(int stage) const { release_stage<Gemm>(shared, stage); }

  __device__ void hand_over(const Sums& d) const {
    const std::uint32_t hand = shared.hand(number);
#pragma unroll
    for (int pair = 0; pair < Gemm::kColumns / 16; ++pair) {
      write_columns<Gemm>(pair, hand, 0, [&](int i) { return rounded<T>(d, pair * 8 + i); });
      write_columns<Gemm>(pair, hand + Gemm::kHandBytes, 0,
                          [&](int i) { return rounded<T>(d, pair * 8 + i + kUp); });
    }
  }

  // h itself, as the finishers would leave it.
  __device__ void finish(const Sums& d) const {
#pragma unroll
    for (int pair = 0; pair < Gemm::kColumns / 16; ++pair) {
      write_columns<Gemm>(pair, shared.hand(number), 0, [&](int i) {
        const int at = pair * 8 + i;
        return gated<Gemm>(rounded<T>(d, at), rounded<T>(d, at + kUp));
      });
    }
    fence_async_proxy();
  }
};

template <typename Gemm>
struct GatedFinisher {
  const GatedMaps& maps;
  const GatedShared<Gemm>& shared;
  const GatedWork& work;
  int thread = 0;  // of kFinishers

  __device__ void run() const {
    for (int consumer = 0; consumer < kConsumers; ++consumer) free(consumer);
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      for (int consumer = 0; consumer < kConsumers; ++consumer) {
        named_sync(kHandFull + consumer, kHandThreads);
        if (!work.is_last(tile)) finish(shared.hand(consumer));
        store(work.raster.at(tile), consumer);
        if (!work.is_last(tile)) free(consumer);
      }
    }
    if (thread == 0) wait_stores();
    __syncwarp();
  }

  __device__ void free(int consumer) const { named_arrive(kHandFree + consumer, kHandThreads); }

  // In place of g. g and u lie alike, so that the swizzle is of no concern.
  __device__ void finish(std::uint32_t hand) const {
#pragma unroll 2
    for (int i = thread * 16; i < Gemm::kHandBytes; i += kFinishers * 16) {
      const uint4 g = load_shared(hand + i), u = load_shared(hand + Gemm::kHandBytes + i);
      store_shared(hand + i, {gated<Gemm>(g.x, u.x), gated<Gemm>(g.y, u.y), gated<Gemm>(g.z, u.z),
                              gated<Gemm>(g.w, u.w)});
    }
    fence_async_proxy();
  }

  // Returns when the hand may be written again.
  __device__ void store(const TilePosition& tile, int consumer) const {
    named_sync(kFinisherBarrier, kFinishers);
    if (thread == 0) {
      for (int panel = 0; panel < Gemm::kPanels; ++panel) {
        store_box(maps.h, shared.hand(consumer) + panel * Gemm::kPanelBytes,
                  tile.col * Gemm::kColumns + panel * Gemm::kPanel,
                  work.row<Gemm>(tile) + consumer * kConsumerRows);
      }
      commit_stores();
      wait_stores_read();
    }
    named_sync(kFinisherBarrier, kFinishers);
  }
};

// One cluster works on a tile of kCluster tiles, one above the other.
template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    gated_gemm_kernel(const __grid_constant__ GatedMaps maps,
                      const __grid_constant__ TileRaster raster, int k) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const GatedShared<Gemm> shared(raw);
  const GatedWork work = work_of_block<Gemm>(raster, k);
  prepare_barriers<Gemm>(maps, shared);
  let_next_kernel_start();
  const int warpgroup = warpgroup_of_warp();
  if (warpgroup > 0) {
    GatedConsumer<Gemm>{shared, work, warpgroup - 1}.run();
  } else if (threadIdx.x >= kWarpgroup - kFinishers) {
    GatedFinisher<Gemm>{maps, shared, work,
                        static_cast<int>(threadIdx.x) - (kWarpgroup - kFinishers)}
        .run();
  } else {
    if (threadIdx.x == 0) GatedProducer<Gemm>{maps, shared, work}.run();
    __syncwarp();
  }
  // No block may end while another of its cluster writes to it or arrives at its barriers.
  if constexpr (Gemm::kCluster > 1) cluster_sync();
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
