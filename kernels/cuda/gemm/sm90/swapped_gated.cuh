// h = activation(x w_gate^T) * (x w_up^T) with the operands swapped: a wgmma's 64 rows are of the
// weights, and its columns, any multiple of eight, are rows of x. So some tens to some hundred rows
// of x fill a tile to within seven, where tiles of 128 rows of x compute up to twice as much; and a
// tile is as many columns of h as make one wave of blocks.
//
// - 64 rows of weights are four times eight of the gate's and, behind each, the same eight of the
//   up's: one box of a tensor of four dimensions, whose third is the distance between the two
//   weights in memory. A thread then holds g and u of the same element of h.
// - Blocks of a cluster multiply the same rows of x, and lie side by side, or the same weights, and
//   lie one above the other: each loads a piece of these, which the TMA writes to all.
// - Sums are transposed on their way to shared memory, whose rows are h's.
// - Stream-K (SwappedWork): where tiles make one wave of clusters and a part of a second, clusters
//   work on equal shares of all tiles' steps of k instead, one behind the other. What a cluster
//   begins with is the rest of the tile that the one before ends with: it writes its sums to device
//   memory early, and that one, which has the tile's first steps, adds them last.
#pragma once

#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/gemm/tile_raster.h"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::sm90 {

// kRows: of x. kWeights: rows of both weights, twice as many as columns of h. The two consumers
// multiply either half of the weights by all rows of x, or all by half of the rows.
template <typename T_, typename Functor_, int kRows_, int kWeights_, bool kHalvesRows_,
          int kStages_, int kCluster_, bool kSharesWeights_>
struct SwappedGated {
  using T = T_;
  using Functor = Functor_;
  static constexpr int kRows = kRows_;
  static constexpr int kWeights = kWeights_;
  static constexpr int kColumns = kWeights / 2;  // of h
  static constexpr int kStep = kStageColumns<T>;
  static constexpr int kStages = kStages_;
  static constexpr int kCluster = kCluster_;
  static constexpr int kReaders = kConsumers;            // of a stage
  using Shape = TileShape<T, kRows, kStages, kWeights>;  // the weights are what is "x" elsewhere

  static constexpr bool kHalvesRows = kHalvesRows_;
  static constexpr int kConsumerRows = kHalvesRows ? kRows / kConsumers : kRows;
  static constexpr int kConsumerWeights = kHalvesRows ? kWeights : kWeights / kConsumers;
  static constexpr int kHalves = kConsumerWeights / 64;
  static_assert(kConsumerRows % 8 == 0 && kConsumerWeights % 64 == 0);
  using TileSums = Sums<kHalves, kConsumerRows / 2>;
  using Output = OutputTile<T, kConsumerWeights / 2, kConsumerRows>;  // a consumer's

  // h is written to the stage that was read last. With memory of its own there is room for three
  // stages in place of four, which take 45.2 us for 37.3 (200 x 2560 x 10240, tiles of 208 x 96, an
  // H200).
  static constexpr int kHandsBytes = 0;
  static_assert(kConsumers * Output::kBytes <= Shape::kStageBytes);
  static_assert(Output::kBytes % (Output::kPanel == 64 ? 1024 : 512) == 0, "for the swizzle");
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);

  static constexpr bool kSharesWeights = kSharesWeights_;  // else the rows of x
  static constexpr int kLoadedWeights = kSharesWeights ? kWeights / kCluster : kWeights;
  static_assert(kLoadedWeights % 16 == 0);
  // Rows of x that a block loads, and where they begin in the tile: the last piece overlaps.
  static constexpr int kLoadedRows =
      kSharesWeights ? kRows : (kRows / 8 + kCluster - 1) / kCluster * 8;
  static __device__ int first_row(int rank) {
    return kSharesWeights ? 0 : min(rank * kLoadedRows, kRows - kLoadedRows);
  }
  // Of a stage: what all blocks of the cluster write to a block.
  static constexpr int kLoadedBytes =
      Shape::kXBytes + (kSharesWeights ? 1 : kCluster) * kLoadedRows * kStageRowBytes;
  static __device__ ConsumerRows rows_of(int consumer) {
    return kHalvesRows ? ConsumerRows{0, consumer * kConsumerRows}
                       : ConsumerRows{consumer * kConsumerWeights, 0};
  }
};

struct SwappedMaps {
  CUtensorMap x, weights, h;

  __device__ void prefetch() const {
    for (const CUtensorMap* map : {&x, &weights, &h}) prefetch_map(*map);
  }
};

// Where clusters that stream k give their sums; null where none do.
struct GivenSums {
  float4* data = nullptr;          // a consumer's behind the other's, as its threads hold them
  std::uint32_t* flags = nullptr;  // of each consumer of the grid; 0 between launches
};

// A cluster works on tiles first, first + stride, ..., each kCluster tiles side by side (or one
// above the other): on all steps of k, but from `from` on of the first and up to `to` of the last.
template <typename Gemm>
struct SwappedWork {
  const TileRaster& raster;
  int steps = 0;  // of k
  int rank = 0, cluster = 0;
  int first = 0, last = 0, stride = 1, from = 0, to = 0;

  __device__ SwappedWork(const TileRaster& tiles, int k, bool streams_k)
      : raster(tiles),
        steps((k + Gemm::kStep - 1) / Gemm::kStep),
        rank(Gemm::kCluster > 1 ? static_cast<int>(cluster_rank()) : 0),
        cluster(static_cast<int>(blockIdx.x) / Gemm::kCluster) {
    const int clusters = static_cast<int>(gridDim.x) / Gemm::kCluster;
    if (streams_k) {
      // There are at least as many tiles as clusters, so that no tile has steps of three. The first
      // clusters take one step more.
      const int share = raster.count() * steps / clusters, more = raster.count() * steps % clusters;
      const int begin = cluster * share + min(cluster, more);
      const int end = begin + share + (cluster < more ? 1 : 0);
      first = begin / steps, from = begin - first * steps;
      last = (end - 1) / steps, to = end - last * steps;
    } else {
      first = cluster, stride = clusters;
      last = raster.count() - 1, to = steps;
    }
  }
  __device__ int begin_of(int tile) const { return tile == first ? from : 0; }
  __device__ int end_of(int tile) const { return tile == last ? to : steps; }
  __device__ int row(const TilePosition& tile) const {
    return (Gemm::kSharesWeights ? tile.row * Gemm::kCluster + rank : tile.row) * Gemm::kRows;
  }
  __device__ int column(const TilePosition& tile) const {
    return (Gemm::kSharesWeights ? tile.col : tile.col * Gemm::kCluster + rank) * Gemm::kColumns;
  }
};

template <typename Gemm>
struct SwappedProducer {
  static constexpr std::uint16_t kAll = (1 << Gemm::kCluster) - 1;
  const SwappedMaps& maps;
  const TileShared<Gemm>& shared;
  const SwappedWork<Gemm>& work;

  __device__ void run() const {
    RingPosition<Gemm::kStages> at;
#pragma unroll 1  // lest the first tile's pass has code of its own
    for (int tile = work.first; tile <= work.last; tile += work.stride) load_tile(tile, at);
  }

  __device__ void load_tile(int number, RingPosition<Gemm::kStages>& at) const {
    const TilePosition tile = work.raster.at(number);
    const int group = work.column(tile) / 8, row = work.row(tile);
    const int end = work.end_of(number);
    int begin = work.begin_of(number);
    if (number == work.first) {
      // Weights are not written by kernels: fetched before the kernel ahead of this one has ended.
      const int ahead = min(Gemm::kStages, end - begin);
#pragma unroll 1
      for (int i = 0; i < ahead; ++i) load_weights(begin + i, i, group);
      wait_for_previous_kernel();
#pragma unroll 1
      for (int i = 0; i < ahead; ++i, at.advance()) load_x(begin + i, i, row);
      begin += ahead;
    }
#pragma unroll 1
    for (int i = begin; i < end; ++i, at.advance()) {
      barrier_wait(shared.empty_at(at.stage), at.parity ^ 1);
      load_weights(i, at.stage, group);
      load_x(i, at.stage, row);
    }
  }

  __device__ void load_weights(int i, int stage, int group) const {
    barrier_expect_bytes(shared.full_at(stage), Gemm::kLoadedBytes);
    const int column = i * Gemm::kStep;
    if constexpr (Gemm::kSharesWeights) {
      constexpr int kPiece = Gemm::Shape::kXBytes / Gemm::kCluster;
      load_pair_box_multicast(maps.weights, shared.stage(stage) + work.rank * kPiece,
                              shared.full_at(stage), column,
                              group + work.rank * Gemm::kLoadedWeights / 16, kAll);
    } else {
      load_pair_box(maps.weights, shared.stage(stage), shared.full_at(stage), column, group);
    }
  }

  __device__ void load_x(int i, int stage, int row) const {
    const int first = Gemm::first_row(work.rank), column = i * Gemm::kStep;
    const std::uint32_t to = shared.stage(stage) + Gemm::Shape::kXBytes + first * kStageRowBytes;
    if constexpr (Gemm::kSharesWeights || Gemm::kCluster == 1) {
      load_box(maps.x, to, shared.full_at(stage), column, row + first);
    } else {
      load_box_multicast(maps.x, to, shared.full_at(stage), column, row + first, kAll);
    }
  }
};

// Named barriers: all consumers have read a tile's last stage; a consumer's own threads, the next
// number being the second's.
inline constexpr int kSwappedRead = 1, kSwappedWritten = 2;

template <typename Gemm>
struct SwappedConsumer {
  const SwappedMaps& maps;
  const TileShared<Gemm>& shared;
  const SwappedWork<Gemm>& work;
  const GivenSums& sums;
  bool up_is_first = false;
  int number = 0;

  using TileSums = typename Gemm::TileSums;
  using Output = typename Gemm::Output;

  __device__ void run() const {
    RingPosition<Gemm::kStages> at;
#pragma unroll 1
    for (int tile = work.first; tile <= work.last; tile += work.stride) {
      const int begin = work.begin_of(tile), end = work.end_of(tile);
      // h, where it is stored from here, is written to the stage that was read last.
      const int released = begin > 0 ? end - begin : end - begin - 1;
      TileSums d;
      int read = 0, last = 0;
      multiply_tile<typename Gemm::Shape>(
          d, shared, at, end - begin, Gemm::rows_of(number),
          [&](int stage) {
            last = stage;
            if (++read <= released) release_stage<Gemm>(shared, stage);
          },
          [] {});
      if (begin > 0) {
        give(d);
        continue;
      }
      if (end < work.steps) add_given(d);
      named_sync(kSwappedRead, kConsumers * kWarpgroup);
      store(d, shared.stage(last) + number * Output::kBytes, work.raster.at(tile));
      release_stage<Gemm>(shared, last);
    }
    if (is_first_thread()) wait_stores();
  }

  __device__ static bool is_first_thread() { return threadIdx.x % kWarpgroup == 0; }

  // A thread's sums, four at a time: of a half, and of all.
  static constexpr int kFoursOfHalf = Gemm::kConsumerRows / 8;
  static constexpr int kFours = Gemm::kHalves * kFoursOfHalf;
  __device__ int of_consumer(int cluster) const {
    return (cluster * Gemm::kCluster + work.rank) * kConsumers + number;
  }
  // What this consumer of that cluster gives: the thread's first four; the next are kWarpgroup on.
  __device__ float4* given(int cluster) const {
    return sums.data + of_consumer(cluster) * kFours * kWarpgroup +
           static_cast<int>(threadIdx.x) % kWarpgroup;
  }

  __device__ void give(const TileSums& d) const {
    float4* const to = given(work.cluster);
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
      store_sums(&d[i / kFoursOfHalf][4 * (i % kFoursOfHalf)], to + i * kWarpgroup);
    }
    named_sync(kSwappedWritten + number, kWarpgroup);
    if (is_first_thread()) set_flag(sums.flags + of_consumer(work.cluster));
  }

  // The next cluster's.
  __device__ void add_given(TileSums& d) const {
    if (is_first_thread()) take_flag(sums.flags + of_consumer(work.cluster + 1));
    named_sync(kSwappedWritten + number, kWarpgroup);
    const float4* const from = given(work.cluster + 1);
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
      add_sums(&d[i / kFoursOfHalf][4 * (i % kFoursOfHalf)], from + i * kWarpgroup);
    }
  }

  // Returns when the tile's shared memory may be overwritten.
  __device__ void store(const TileSums& d, std::uint32_t to, const TilePosition& tile) const {
#pragma unroll
    for (int half = 0; half < Gemm::kHalves; ++half) write(d[half], to, half * 32);
    fence_async_proxy();
    named_sync(kSwappedWritten + number, kWarpgroup);
    if (is_first_thread()) {
      const ConsumerRows rows = Gemm::rows_of(number);
      store_tile<Output>(maps.h, to, work.column(tile) + rows.x / 2, work.row(tile) + rows.w);
      wait_stores_read();
    }
    named_sync(kSwappedWritten + number, kWarpgroup);
  }

  // A warp's eight columns of h, the tile's from `column` + 8 warps on. A thread has of one of them
  // the rows 8 j + 2 (lane % 4) and the next.
  template <int kCount>
  __device__ void write(const float (&d)[kCount], std::uint32_t hand, int column) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x % kWarpgroup / 32;
    const int chunk = column / 8 + warp;
    const auto word = [&](int j) { return gated(&d[4 * j]); };
    constexpr int kMatrices = Gemm::kConsumerRows / 8;
#pragma unroll
    for (int j = 0; j + 4 <= kMatrices; j += 4) {
      store_transposed(hand + Output::chunk_at(8 * j + lane, chunk), word(j), word(j + 1),
                       word(j + 2), word(j + 3));
    }
#pragma unroll
    for (int j = kMatrices / 4 * 4; j < kMatrices; ++j) {
      store_transposed(hand + Output::chunk_at(8 * j + lane % 8, chunk), word(j));
    }
  }

  // d: two neighbours of the first weights' product, then of the second's.
  __device__ std::uint32_t gated(const float* d) const {
    const float2 first{d[0], d[1]}, second{d[2], d[3]};
    const float2 gate = up_is_first ? second : first, up = up_is_first ? first : second;
    using Functor = typename Gemm::Functor;
    return pack<typename Gemm::T>(Functor::of(gate.x) * up.x, Functor::of(gate.y) * up.y);
  }
};

template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    swapped_gated_kernel(const __grid_constant__ SwappedMaps maps,
                         const __grid_constant__ TileRaster raster,
                         const __grid_constant__ GivenSums sums, int k, bool up_is_first) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const SwappedWork<Gemm> work(raster, k, sums.data != nullptr);
  start_block(shared, maps);
  let_next_kernel_start();
  run_block<Gemm>(
      [&](int number) {
        SwappedConsumer<Gemm>{maps, shared, work, sums, up_is_first, number}.run();
      },
      [&] {
        SwappedProducer<Gemm>{maps, shared, work}.run();
      });
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
