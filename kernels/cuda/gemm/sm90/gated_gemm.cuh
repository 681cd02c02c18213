// h = activation(x w_gate^T) * (x w_up^T) in one kernel: a tile's w rows are as many of w_gate's as
// of w_up's, one above the other, so that one wgmma multiplies both and g and u never reach device
// memory. One block an SM, each working through many tiles.
//
// - Beside the producer, the first warpgroup has three warps that finish tiles: the consumers round
//   their sums of g and u into shared memory and go on with the next tile, while the finishers
//   compute GeGLU and store. With the epilogue in the consumers the tensor cores waited for it: of
//   16,000 SM cycles a tile at 8192 x 3072 x 768, GeGLU took 1,940 and storing 1,310 (an H200, by
//   leaving them out). The consumers finish and store a block's last tile themselves: nothing
//   overlaps it, and eight warps are faster than three. Handing it to one thread that stored both
//   halves in turn took 1,500 to 2,200 cycles from the last written column to the end of the
//   kernel.
// - What is handed over is rounded to the dtype, as tensors g and u would be. GeGLU is fp32, and h
// is
//   rounded once.
// - A cluster of two blocks takes two tiles one above the other, which multiply the same weights:
// each
//   block loads half of these and the TMA writes them to both, which reads a third less from the
//   L2.
#pragma once

#include "kernels/cuda/gemm/sm90/gated_tile.cuh"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::sm90 {

inline constexpr int kFinishers = 96;  // threads: warps 1 to 3
// Named barriers of the finishers and one consumer: its sums are written; they may be overwritten.
// The next numbers are the second consumer's.
inline constexpr int kHandFull = 1, kHandFree = 3, kHandThreads = kFinishers + kWarpgroup;
inline constexpr int kFinisherBarrier = 5;

// Where in h a consumer's part of a tile begins.
template <typename Gemm>
__device__ inline int h_column(const TilePosition& tile, int consumer) {
  return tile.col * Gemm::kColumns +
         (kSharesRows<typename Gemm::Shape> ? consumer * Gemm::Output::kColumns : 0);
}
template <typename Gemm>
__device__ inline int h_row(const GatedWork& work, const TilePosition& tile, int consumer) {
  return work.row<Gemm>(tile) + rows_of_consumer<typename Gemm::Shape>(consumer).x;
}

// kColumns: of h. kRows: of x, 128 or 64.
template <typename T_, typename Functor_, int kColumns_, int kStages_, int kCluster_, int kRows_,
          typename Rows_ = OutputRows>
struct GatedGemm {
  using T = T_;
  using Functor = Functor_;  // the activation
  using Rows = Rows_;        // what a kernel is told of h beside its map
  using Shape = TileShape<T, 2 * kColumns_, kStages_, kRows_>;
  static constexpr int kColumns = kColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kCluster = kCluster_;
  static constexpr int kReaders = kConsumers;                          // of a stage
  static constexpr int kPieces = kSharesRows<Shape> ? kConsumers : 1;  // of weights
  // In narrow tiles each warp stores its own rows of a block's last tile: 256 x 3072 x 768
  // takes 5.30 instead of 5.45 us in tiles of 48 columns. Wide tiles do not gain.
  static constexpr bool kWarpsStore = kColumns <= 64;
  using Output = OutputTile<T, kColumns / kPieces, kConsumerRows>;
  // What a consumer hands over of g, and behind it of u. e4m3 would be too coarse for them, and has
  // a place of its own for h.
  static constexpr bool kQuantizes = sizeof(T) == 1;
  using Hand = OutputTile<std::conditional_t<kQuantizes, __nv_bfloat16, T>, kColumns / kPieces,
                          kConsumerRows>;
  static constexpr int kOutputAt = kQuantizes ? 2 * Hand::kBytes : 0;  // in the hand
  static constexpr int kHandBytes = 2 * Hand::kBytes + (kQuantizes ? Output::kBytes : 0);
  static constexpr int kHandsBytes = kConsumers * kHandBytes;
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);
};

template <typename Gemm>
struct GatedConsumer {
  const GatedMaps& maps;
  const TileShared<Gemm>& shared;
  const GatedWork& work;
  const typename Gemm::Rows& h;
  int number = 0;

  using T = typename Gemm::T;
  using Shape = typename Gemm::Shape;
  using Output = typename Gemm::Output;
  using TileSums = Sums<1, kConsumerWidth<Shape> / 2>;

  __device__ void run() const {
    const int stages = work.stages<T>();
    RingPosition<Gemm::kStages> at;
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      TileSums d;
      multiply_tile<Shape>(
          d, shared, at, stages, rows_of_consumer<Shape>(number),
          [&](int stage) { release_stage<Gemm>(shared, stage); }, [] {});
      named_sync(kHandFree + number, kHandThreads);
      if (work.is_last(tile)) {
        finish(d, work.raster.at(tile));
      } else {
        hand_over(d, work.raster.at(tile));
        named_arrive(kHandFull + number, kHandThreads);
      }
    }
  }

  __device__ void hand_over(const TileSums& d, const TilePosition& tile) const {
    using Hand = typename Gemm::Hand;
    constexpr int kUp = kConsumerWidth<Shape> / 4;  // of a thread's sums, where u's begin
    const std::uint32_t hand = shared.hand(number);
    const int row = threadIdx.x % kWarpgroup / 32 * 16;
    const int first_row = h_row<Gemm>(work, tile, number),
              first_column = h_column<Gemm>(tile, number);
    const auto gate_by = h.gate().at(first_row, first_column),
               up_by = h.up().at(first_row, first_column);
    write_rows<Hand>(hand, row, 0, [&](int i) { return gate_by.of({d[0][i], d[0][i + 1]}, i); });
    write_rows<Hand>(hand + Hand::kBytes, row, 0, [&](int i) {
      return up_by.of({d[0][i + kUp], d[0][i + 1 + kUp]}, i);
    });
  }

  __device__ void finish(const TileSums& d, const TilePosition& tile) const {
    const std::uint32_t output = shared.hand(number) + Gemm::kOutputAt;
    const int row = h_row<Gemm>(work, tile, number), column = h_column<Gemm>(tile, number);
    write_gated<Gemm>(output, 0, d[0], h.gate().at(row, column), h.up().at(row, column));
    if constexpr (Gemm::kWarpsStore) {
      copy_rows<Output>(output, threadIdx.x % kWarpgroup / 32 * 16, 0, h, row, column);
    } else {
      store_written<Gemm>(maps, output, number, column, row);
      if (threadIdx.x % kWarpgroup == 0) wait_stores();
    }
  }
};

template <typename Gemm>
struct GatedFinisher {
  const GatedMaps& maps;
  const TileShared<Gemm>& shared;
  const GatedWork& work;
  int thread = 0;  // of kFinishers

  using Output = typename Gemm::Output;

  __device__ void run() const {
    for (int consumer = 0; consumer < kConsumers; ++consumer) free(consumer);
    for (int tile = work.first; !work.is_last(tile); tile += work.step) {
      for (int consumer = 0; consumer < kConsumers; ++consumer) {
        named_sync(kHandFull + consumer, kHandThreads);
        finish(shared.hand(consumer));
        store(work.raster.at(tile), consumer);
        free(consumer);
      }
    }
    if (thread == 0) wait_stores();
    __syncwarp();
  }

  __device__ void free(int consumer) const { named_arrive(kHandFree + consumer, kHandThreads); }

  __device__ void finish(std::uint32_t hand) const {
    if constexpr (Gemm::kQuantizes) {
      quantize(hand);
    } else {
      overwrite(hand);
    }
    fence_async_proxy();
  }

  // h takes g's place. g and u have the same layout, so the swizzle does not matter.
  __device__ void overwrite(std::uint32_t hand) const {
#pragma unroll 2
    for (int i = thread * 16; i < Output::kBytes; i += kFinishers * 16) {
      const uint4 g = load_shared(hand + i), u = load_shared(hand + Output::kBytes + i);
      store_shared(hand + i, {gated_pair(g.x, u.x), gated_pair(g.y, u.y), gated_pair(g.z, u.z),
                              gated_pair(g.w, u.w)});
    }
  }

  // A chunk of h is of two of g.
  __device__ void quantize(std::uint32_t hand) const {
    constexpr int kChunks = Output::kColumns / Output::kInAChunk;
#pragma unroll 2
    for (int i = thread; i < Output::kRows * kChunks; i += kFinishers) {
      const int row = i / kChunks, chunk = i % kChunks;
      const uint2 left = quantized(hand, row, 2 * chunk);
      const uint2 right = quantized(hand, row, 2 * chunk + 1);
      store_shared(hand + Gemm::kOutputAt + Output::chunk_at(row, chunk),
                   {left.x, left.y, right.x, right.y});
    }
  }

  static __device__ uint2 quantized(std::uint32_t hand, int row, int chunk) {
    using Hand = typename Gemm::Hand;
    const std::uint32_t at = hand + Hand::chunk_at(row, chunk);
    const uint4 g = load_shared(at), u = load_shared(at + Hand::kBytes);
    return {gated_pair(g.x, u.x) | gated_pair(g.y, u.y) << 16,
            gated_pair(g.z, u.z) | gated_pair(g.w, u.w) << 16};
  }

  static __device__ std::uint32_t gated_pair(std::uint32_t g, std::uint32_t u) {
    using HandT = typename Gemm::Hand::T;
    const float2 h = gated<Gemm>(unpack<HandT>(g), unpack<HandT>(u));
    return pack<typename Gemm::T>(h.x, h.y);
  }

  // Returns when the hand may be overwritten.
  __device__ void store(const TilePosition& tile, int consumer) const {
    named_sync(kFinisherBarrier, kFinishers);
    if (thread == 0) {
      store_tile<Output>(maps.h, shared.hand(consumer) + Gemm::kOutputAt,
                         h_column<Gemm>(tile, consumer), h_row<Gemm>(work, tile, consumer));
      wait_stores_read();
    }
    named_sync(kFinisherBarrier, kFinishers);
  }
};

// One cluster works on a tile of kCluster tiles, one above the other.
template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    gated_gemm_kernel(const __grid_constant__ GatedMaps maps,
                      const __grid_constant__ TileRaster raster,
                      const __grid_constant__ typename Gemm::Rows h, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const GatedWork work = work_of_block<Gemm>(raster, h.rows, k);
  start_block(shared, maps);
  let_next_kernel_start();
  const int warpgroup = warpgroup_of_warp();
  if (warpgroup > 0) {
    GatedConsumer<Gemm>{maps, shared, work, h, warpgroup - 1}.run();
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
