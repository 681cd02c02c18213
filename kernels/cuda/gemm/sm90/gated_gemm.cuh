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
// Per thread, where consumers hold a stage's sums beside a tile's: 128 x 56 + 256 x 224 of 65,536.
inline constexpr int kFinishingRegisters = 56, kPromotingRegisters = 224;
inline constexpr float kE4m3Largest = 448;

// Where in h a consumer's part of a tile begins.
template <typename Gemm>
__device__ inline int h_column(const TilePosition& tile, int consumer) {
  return tile.col * Gemm::kColumns +
         (kSharesRows<typename Gemm::Shape> ? consumer * Gemm::Output::kColumns : 0);
}
template <typename Gemm>
__device__ inline int h_row(const typename Gemm::Work& work, const TilePosition& tile,
                            int consumer) {
  return work.template row<Gemm>(tile) + rows_of_consumer<typename Gemm::Shape>(consumer).x;
}

// kColumns: of h. kRows: of x, 128 or 64. kPromotes: a stage's sums are added up in fp32.
template <typename T_, typename Functor_, int kColumns_, int kStages_, int kCluster_, int kRows_,
          typename Rows_ = OutputRows, bool kPromotes_ = false>
struct GatedGemm {
  using T = T_;
  using Functor = Functor_;  // the activation
  using Rows = Rows_;        // what a kernel knows of h beside its map
  using Maps = GatedMaps;
  using Work = GatedWork;
  static constexpr bool kPromotes = kPromotes_;
  // Sums of 128 rows, and a stage's of 64, fit where consumers share the rows.
  using Shape = std::conditional_t<kPromotes, SharingTileShape<T, 2 * kColumns_, kStages_, kRows_>,
                                   TileShape<T, 2 * kColumns_, kStages_, kRows_>>;
  static constexpr int kColumns = kColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kCluster = kCluster_;
  static constexpr int kReaders = kConsumers;                          // of a stage
  static constexpr int kPieces = kSharesRows<Shape> ? kConsumers : 1;  // of weights
  // In narrow tiles each warp stores its own rows of a block's last tile: 256 x 3072 x 768
  // takes 5.30 instead of 5.45 us in tiles of 48 columns. Wide tiles do not gain.
  static constexpr bool kWarpsStore = kColumns <= 64;
  // What a consumer computes.
  static constexpr int kHeight = kSharesRows<Shape> ? kRows_ : kConsumerRows;
  using Output = OutputTile<T, kColumns / kPieces, kHeight>;
  // A row's block of h is both consumers'.
  static constexpr bool kScalesBlocks = std::is_same_v<Rows, QuantizedRows<BlockScales>>;
  static_assert(!kScalesBlocks || (kPromotes && kColumns == BlockScales::kBlock));
  // What a consumer hands over of g, and behind it of u. e4m3 would be too coarse for them; h lies
  // behind both.
  static constexpr bool kQuantizes = sizeof(T) == 1;
  using Hand =
      OutputTile<std::conditional_t<kQuantizes, __nv_bfloat16, T>, kColumns / kPieces, kHeight>;
  static constexpr int kOutputAt = kQuantizes ? 2 * Hand::kBytes : 0;  // in the hand
  static constexpr int kHandBytes = 2 * Hand::kBytes + (kQuantizes ? Output::kBytes : 0);
  static constexpr int kHandsBytes = kConsumers * kHandBytes;
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);
};

template <typename Gemm>
struct GatedConsumer {
  const GatedMaps& maps;
  const TileShared<Gemm>& shared;
  const typename Gemm::Work& work;
  const typename Gemm::Rows& h;
  int number = 0;

  using T = typename Gemm::T;
  using Shape = typename Gemm::Shape;
  using Output = typename Gemm::Output;
  static constexpr int kHalves = Gemm::kHeight / 64;
  using TileSums = Sums<kHalves, kConsumerWidth<Shape> / 2>;

  __device__ void run() const {
    const int stages = work.template stages<T>();
    RingPosition<Gemm::kStages> at;
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      TileSums d;
      multiply(d, at, stages, work.raster.at(tile));
      named_sync(kHandFree + number, kHandThreads);
      if (!Gemm::kScalesBlocks && work.is_last(tile)) {
        finish(d, work.raster.at(tile));
      } else {
        hand_over(d, work.raster.at(tile));
        named_arrive(kHandFull + number, kHandThreads);
      }
    }
  }

  __device__ void multiply(TileSums& d, RingPosition<Gemm::kStages>& at, int stages,
                           const TilePosition& tile) const {
    const auto release = [&](int stage) { release_stage<Gemm>(shared, stage); };
    const ConsumerRows rows = rows_of_consumer<Shape>(number);
    if constexpr (Gemm::kPromotes) {
      multiply_tile_promoted<Shape>(
          d, shared, at, stages, rows, release,
          h.promotion(h_row<Gemm>(work, tile, number), h_column<Gemm>(tile, number)));
    } else {
      multiply_tile<Shape>(d, shared, at, stages, rows, release, [] {});
    }
  }

  __device__ void hand_over(const TileSums& d, const TilePosition& tile) const {
    using Hand = typename Gemm::Hand;
    constexpr int kUp = kConsumerWidth<Shape> / 4;  // of a thread's sums, where u's begin
    const std::uint32_t hand = shared.hand(number);
    const int first = h_row<Gemm>(work, tile, number), column = h_column<Gemm>(tile, number);
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const int row = half * 64 + threadIdx.x % kWarpgroup / 32 * 16;
      const auto gate_by = h.gate().at(first + half * 64, column);
      const auto up_by = h.up().at(first + half * 64, column);
      const float* const sums = d[half];
      write_rows<Hand>(hand, row, 0, [&](int i) { return gate_by.of({sums[i], sums[i + 1]}, i); });
      write_rows<Hand>(hand + Hand::kBytes, row, 0, [&](int i) {
        return up_by.of({sums[i + kUp], sums[i + 1 + kUp]}, i);
      });
    }
  }

  __device__ void finish(const TileSums& d, const TilePosition& tile) const {
    const std::uint32_t output = shared.hand(number) + Gemm::kOutputAt;
    const int row = h_row<Gemm>(work, tile, number), column = h_column<Gemm>(tile, number);
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      write_gated<Gemm>(output, half * 64, d[half], h.gate().at(row + half * 64, column),
                        h.up().at(row + half * 64, column));
    }
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
  const typename Gemm::Work& work;
  const typename Gemm::Rows& rows;
  int thread = 0;  // of kFinishers

  using Output = typename Gemm::Output;

  __device__ void run() const {
    for (int consumer = 0; consumer < kConsumers; ++consumer) free(consumer);
    if constexpr (Gemm::kScalesBlocks) {
      for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
        finish_blocks(work.raster.at(tile));
      }
    } else {
      finish_tiles();
    }
    if (thread == 0) wait_stores();
    __syncwarp();
  }

  __device__ void finish_tiles() const {
    for (int tile = work.first; !work.is_last(tile); tile += work.step) {
      for (int consumer = 0; consumer < kConsumers; ++consumer) {
        named_sync(kHandFull + consumer, kHandThreads);
        finish(shared.hand(consumer));
        store(work.raster.at(tile), consumer);
        free(consumer);
      }
    }
  }

  // Both consumers' parts of a tile, whose rows are a block each.
  __device__ void finish_blocks(const TilePosition& tile) const {
    for (int consumer = 0; consumer < kConsumers; ++consumer) {
      named_sync(kHandFull + consumer, kHandThreads);
    }
    constexpr int kOfARow = BlockScales::kBlock / 8;  // threads
    for (int row = thread / kOfARow; row < Gemm::kHeight; row += kFinishers / kOfARow) {
      quantize_block(row, thread % kOfARow, tile);
    }
    fence_async_proxy();
    for (int consumer = 0; consumer < kConsumers; ++consumer) {
      store(tile, consumer);
      free(consumer);
    }
  }

  // A thread's eight of the row's elements; two warps' halves have a row each.
  __device__ void quantize_block(int row, int part, const TilePosition& tile) const {
    using Hand = typename Gemm::Hand;
    constexpr int kChunks = Hand::kColumns / Hand::kInAChunk;
    const std::uint32_t hand = shared.hand(part / kChunks);
    const std::uint32_t at = hand + Hand::chunk_at(row, part % kChunks);
    const uint4 g = load_shared(at), u = load_shared(at + Hand::kBytes);
    const float2 h[4] = {gated_of(g.x, u.x), gated_of(g.y, u.y), gated_of(g.z, u.z),
                         gated_of(g.w, u.w)};
    float most = 0;
    for (const float2& pair : h) most = fmaxf(most, fmaxf(fabsf(pair.x), fabsf(pair.y)));
    for (int other = 8; other > 0; other /= 2) {
      most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, other));
    }
    const float by = most > 0 ? kE4m3Largest / most : 0;
    const auto pair = [&](int i) { return pack<typename Gemm::T>(h[i].x * by, h[i].y * by); };
    const std::uint32_t left = pair(0) | pair(1) << 16, right = pair(2) | pair(3) << 16;
    const std::uint32_t next_left = __shfl_xor_sync(0xffffffff, left, 1);
    const std::uint32_t next_right = __shfl_xor_sync(0xffffffff, right, 1);
    if (part % 2 == 0) {
      store_shared(hand + Gemm::kOutputAt + Output::chunk_at(row, part % kChunks / 2),
                   {left, right, next_left, next_right});
    }
    const int of_h = work.template row<Gemm>(tile) + row;
    if (part == 0 && of_h < rows.rows) {
      const int blocks = (rows.columns + BlockScales::kBlock - 1) / BlockScales::kBlock;
      rows.h_scales[static_cast<std::int64_t>(of_h) * blocks + tile.col] = most / kE4m3Largest;
    }
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

  static __device__ float2 gated_of(std::uint32_t g, std::uint32_t u) {
    using HandT = typename Gemm::Hand::T;
    return gated<Gemm>(unpack<HandT>(g), unpack<HandT>(u));
  }

  static __device__ std::uint32_t gated_pair(std::uint32_t g, std::uint32_t u) {
    const float2 h = gated_of(g, u);
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

// The roles of a block's warps.
template <typename Gemm>
__device__ inline void run_gated_block(const GatedMaps& maps, const TileShared<Gemm>& shared,
                                       const typename Gemm::Work& work,
                                       const typename Gemm::Rows& h) {
  start_block(shared, maps);
  let_next_kernel_start();
  const int warpgroup = warpgroup_of_warp();
  if (warpgroup > 0) {
    if constexpr (Gemm::kPromotes) take_registers<kPromotingRegisters>();
    GatedConsumer<Gemm>{maps, shared, work, h, warpgroup - 1}.run();
  } else {
    if constexpr (Gemm::kPromotes) give_registers<kFinishingRegisters>();
    const int finisher = static_cast<int>(threadIdx.x) - (kWarpgroup - kFinishers);
    if (finisher >= 0) {
      GatedFinisher<Gemm>{maps, shared, work, h, finisher}.run();
    } else {
      if (threadIdx.x == 0) GatedProducer<Gemm>{maps, shared, work}.run();
      __syncwarp();
    }
  }
  // No block may end while another of its cluster writes to it or arrives at its barriers.
  if constexpr (Gemm::kCluster > 1) cluster_sync();
}

// One cluster works on a tile of kCluster tiles, one above the other.
template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    gated_gemm_kernel(const __grid_constant__ GatedMaps maps,
                      const __grid_constant__ TileRaster raster,
                      const __grid_constant__ typename Gemm::Rows h, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  run_gated_block<Gemm>(maps, TileShared<Gemm>(raw), {work_of_block<Gemm>(raster, h.rows, k)}, h);
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
