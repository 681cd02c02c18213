// The GEMM for problems of few tiles: narrow tiles, and k split over the blocks of a cluster (or
// not split, where there is a tile for nearly every SM). Each block multiplies its share of k for
// all of the tile's rows, and owns a band of them: it writes its sums of the others' bands to their
// owners' shared memory. No workspace and no second kernel, and only a band's owner waits.
#pragma once

#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::sm90 {

// Named barrier: all consumers have read the ring.
inline constexpr int kReadBarrier = 1, kReadThreads = kConsumers * kWarpgroup;

template <typename Shape_, int kSplits_>
struct SplitGemm {
  using Shape = Shape_;
  using T = typename Shape::T;
  static constexpr int kSplits = kSplits_;  // blocks of a cluster
  static constexpr int kStages = Shape::kStages;
  static constexpr int kRingBytes = kStages * Shape::kStageBytes;
  static constexpr int kConsumerColumns = kConsumerWidth<Shape>;
  static constexpr int kHalves = Shape::kRows == 2 * kTileRows ? 2 : 1;  // of a consumer's rows
  using TileSums = Sums<kHalves, kConsumerColumns / 2>;
  static constexpr bool kTakesRegisters = kHalves * kConsumerColumns / 2 >= 128;
  // A band has a consumer's threads' halves of these rows, or one of them.
  static constexpr int kBandHalves = kSplits > kConsumers ? 1 : kHalves;
  static constexpr int kOwners = kHalves / kBandHalves;  // of a thread's sums
  static constexpr int kBandThreads = kConsumers * kWarpgroup * kOwners / kSplits;
  static_assert(kBandThreads % (kSharesRows<Shape> ? 64 : 32) == 0);
  static_assert(kHalves == 1 || kBandThreads >= kWarpgroup);
  using Output = OutputTile<T, Shape::kWidth, Shape::kRows / kSplits>;  // a band
  // Another block's sums of the band.
  static constexpr int kFours = kConsumerColumns / 8;  // a thread's of a half, four sums each
  static constexpr int kHandBytes = kBandThreads * kBandHalves * kFours * 16;
  static constexpr int kGivenBytes = (kSplits - 1) * kHandBytes;
  // Where there is no room for what is given beside the ring and 2 KiB of alignment and barriers, it
  // lies in the ring, and the band behind it: the blocks wait till all have read theirs.
  static constexpr bool kMeets = kRingBytes + kGivenBytes > kMostSharedBytes - 2048;
  static constexpr int kBandAt = kMeets ? (kGivenBytes + 1023) / 1024 * 1024 : 0;  // in the ring
  static_assert(kBandAt + Output::kBytes <= kRingBytes);
  // A barrier, which completes when all have arrived.
  static constexpr int kGivenBarrierAt = kMeets ? 0 : kGivenBytes;  // in the hands
  static constexpr int kHandsBytes = kGivenBarrierAt + 16;

  static __device__ std::uint32_t given(const TileShared<SplitGemm>& shared) {
    return shared.hands + kGivenBarrierAt;
  }
  // Four of a thread's sums, the i-th, in the part of the band that came from another block. index:
  // BandThread's.
  static __device__ std::uint32_t part_at(const TileShared<SplitGemm>& shared, int part, int index,
                                          int i) {
    return (kMeets ? shared.stage(0) : shared.hands) + part * kHandBytes +
           (i * kBandThreads + index) * 16;
  }
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);
};

struct SplitMaps {
  XMaps x;
  CUtensorMap w;

  __device__ void prefetch() const {
    x.prefetch();
    prefetch_map(w);
  }
};

// What one block computes: which share of k, where in out that begins, and its steps of k.
struct SplitTile {
  int split = 0, row = 0, column = 0, first_step = 0, steps = 0;
};

template <typename Gemm>
__device__ SplitTile split_tile(int k) {
  constexpr int kColumns = kStageColumns<typename Gemm::T>;
  const int steps = (k + kColumns - 1) / kColumns;
  const int split = static_cast<int>(blockIdx.x) % Gemm::kSplits;
  const int first = steps * split / Gemm::kSplits;
  return {split, static_cast<int>(blockIdx.y) * Gemm::Shape::kRows,
          static_cast<int>(blockIdx.x) / Gemm::kSplits * Gemm::Shape::kWidth, first,
          steps * (split + 1) / Gemm::kSplits - first};
}

// bytes: of a stage. The loops are not unrolled, as in gated_tile.cuh.
template <typename Gemm>
__device__ void produce_split(const CUtensorMap& x, const CUtensorMap& w, int bytes,
                              const TileShared<Gemm>& shared, const SplitTile& tile) {
  const auto load_w = [&](int step, int stage) {
    barrier_expect_bytes(shared.full_at(stage), bytes);
    load_box(w, shared.stage(stage) + Gemm::Shape::kXBytes, shared.full_at(stage),
             (tile.first_step + step) * kStageColumns<typename Gemm::T>, tile.column);
  };
  const auto load_x = [&](int step, int stage) {
    load_box(x, shared.stage(stage), shared.full_at(stage),
             (tile.first_step + step) * kStageColumns<typename Gemm::T>, tile.row);
  };
  const int ahead = min(Gemm::kStages, tile.steps);
  // Weights are not written by kernels, so they need not wait for the kernel ahead.
#pragma unroll 1
  for (int i = 0; i < ahead; ++i) load_w(i, i);
  wait_for_previous_kernel();
#pragma unroll 1
  for (int i = 0; i < ahead; ++i) load_x(i, i);
  RingPosition<Gemm::kStages> at;
#pragma unroll 1
  for (int step = 0; step < tile.steps; ++step, at.advance()) {
    if (step < ahead) continue;
    barrier_wait(shared.empty_at(at.stage), at.parity ^ 1);
    load_w(step, at.stage);
    load_x(step, at.stage);
  }
}

template <typename Gemm>
__device__ inline void multiply_share(typename Gemm::TileSums& d, const TileShared<Gemm>& shared,
                                      int consumer, const SplitTile& tile) {
  RingPosition<Gemm::kStages> at;
  multiply_tile<typename Gemm::Shape>(
      d, shared, at, tile.steps, rows_of_consumer<typename Gemm::Shape>(consumer),
      [&](int stage) {
        if (threadIdx.x % kWarpgroup == 0) barrier_arrive(shared.empty_at(stage));
      },
      [] {});
}

// Whose band a consumers' thread's rows are in, and which of the band's threads it is.
struct BandThread {
  int owner = 0, index = 0;  // owner: the share of k whose block it is, of the first half
  int row = 0, column = 0;   // of the band: from, of the thread's warp's first 16 rows
};

// thread: of the consumers'.
template <typename Gemm>
__device__ inline BandThread band_thread(int thread) {
  if constexpr (kSharesRows<typename Gemm::Shape>) {
    constexpr int kOfConsumer = Gemm::kBandThreads / kConsumers;
    const int consumer = thread / kWarpgroup, own = thread % kWarpgroup;
    const int index = own % kOfConsumer;
    return {own / kOfConsumer, consumer * kOfConsumer + index, index / 32 * 16,
            consumer * Gemm::kConsumerColumns};
  } else {
    const int index = thread % Gemm::kBandThreads;
    const int row = index / 32 * 16 + index / kWarpgroup * (Gemm::kHalves - 1) * kConsumerRows;
    return {thread / Gemm::kBandThreads * Gemm::kOwners, index, row, 0};
  }
}

// Calls use(half, of_band) for each half of the thread's sums in that owner's band; of_band: which
// of the band's it is.
template <typename Gemm, typename Use>
__device__ inline void with_halves(const BandThread& thread, int owner, const Use& use) {
#pragma unroll
  for (int half = 0; half < Gemm::kHalves; ++half) {
    const int band = Gemm::kOwners == 1 ? 0 : half;
    if (thread.owner + band == owner) use(half, half - band);
  }
}

// Writes this block's sums to the other bands' owners.
template <typename Gemm>
__device__ void give_sums(const typename Gemm::TileSums& d, const TileShared<Gemm>& shared,
                          const SplitTile& tile, const BandThread& thread) {
#pragma unroll
  for (int other = 0; other < Gemm::kOwners; ++other) {
    const int owner = thread.owner + other;
    if (owner == tile.split) continue;
    const int part = tile.split < owner ? tile.split : tile.split - 1;
    with_halves<Gemm>(thread, owner, [&](int half, int of_band) {
#pragma unroll
      for (int i = 0; i < Gemm::kFours; ++i) {
        const float* const four = &d[half][4 * i];
        store_to_block(Gemm::part_at(shared, part, thread.index, of_band * Gemm::kFours + i),
                       owner, {four[0], four[1], four[2], four[3]}, Gemm::given(shared));
      }
    });
  }
}

template <typename Gemm>
__device__ void add_given(typename Gemm::TileSums& d, const TileShared<Gemm>& shared,
                          const SplitTile& tile, const BandThread& thread) {
  with_halves<Gemm>(thread, tile.split, [&](int half, int of_band) {
#pragma unroll
    for (int part = 0; part < Gemm::kSplits - 1; ++part) {
#pragma unroll
      for (int i = 0; i < Gemm::kFours; ++i) {
        const float4 given = load_shared_floats(
            Gemm::part_at(shared, part, thread.index, of_band * Gemm::kFours + i));
        d[half][4 * i] += given.x, d[half][4 * i + 1] += given.y;
        d[half][4 * i + 2] += given.z, d[half][4 * i + 3] += given.w;
      }
    }
  });
}

// Through the ring's memory, which is free by now, so that whole rows are written: pairs of columns
// straight from registers took 4,300 cycles at 2048 x 768 in tiles of 128 x 192 (an H200).
template <typename Gemm>
__device__ void store_band(const typename Gemm::TileSums& d, const OutputRows& out,
                           const TileShared<Gemm>& shared, const SplitTile& tile,
                           const BandThread& thread) {
  using Output = typename Gemm::Output;
  const std::uint32_t band = shared.stage(0) + Gemm::kBandAt;
  with_halves<Gemm>(thread, tile.split, [&](int half, int of_band) {
    const int row = thread.row + of_band * kConsumerRows;
    write_rows<Output, Gemm::kConsumerColumns>(band, row, thread.column, [&](int i) {
      return float2{d[half][i], d[half][i + 1]};
    });
    copy_rows<Output, Gemm::kConsumerColumns>(band, row, thread.column, out,
                                              tile.row + tile.split * Output::kRows, tile.column);
  });
}

template <typename Gemm>
__device__ inline void start_split_block(const TileShared<Gemm>& shared, const SplitMaps& maps) {
  if (threadIdx.x == 0) {
    maps.prefetch();
    init_barriers<Gemm::kStages>(shared, kConsumers);
    if constexpr (Gemm::kSplits > 1) {
      barrier_init(Gemm::given(shared), 1);
      fence_barrier_init();
      barrier_expect_bytes(Gemm::given(shared), Gemm::kGivenBytes);
    }
  }
  __syncthreads();
  if constexpr (Gemm::kSplits > 1) cluster_arrive_relaxed();
}

// Gives the sums of the others' bands away and adds theirs of this block's. False in threads whose
// rows are all in others' bands.
template <typename Gemm>
__device__ inline bool reduce_band(typename Gemm::TileSums& d, const TileShared<Gemm>& shared,
                                   const SplitTile& tile, const BandThread& thread) {
  give_sums<Gemm>(d, shared, tile, thread);
  if (tile.split < thread.owner || tile.split >= thread.owner + Gemm::kOwners) {
    named_arrive(kReadBarrier, kReadThreads);
    return false;
  }
  barrier_wait(Gemm::given(shared), 0);
  add_given<Gemm>(d, shared, tile, thread);
  return true;
}

// By one warp.
template <typename Gemm>
__device__ inline void run_split_producer(const SplitMaps& maps, const TileShared<Gemm>& shared,
                                          const SplitTile& tile, int rows) {
  if (threadIdx.x == 0) {
    maps.x.template with_boxes<Gemm::Shape::kRows>(
        rows, tile.row, [&](const CUtensorMap& x, int x_bytes) {
          produce_split(x, maps.w, x_bytes + Gemm::Shape::kWBytes, shared, tile);
        });
  }
  __syncwarp();
  if constexpr (Gemm::kSplits > 1) cluster_wait();
  if constexpr (Gemm::kMeets) cluster_arrive_relaxed();
}

template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    split_gemm_kernel(const __grid_constant__ SplitMaps maps,
                      const __grid_constant__ OutputRows out, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const SplitTile tile = split_tile<Gemm>(k);
  start_split_block(shared, maps);
  let_next_kernel_start();
  const int consumer = warpgroup_of_warp() - 1;
  if (consumer < 0) {
    if constexpr (Gemm::kTakesRegisters) give_registers<kFewRegisters>();
    return run_split_producer(maps, shared, tile, out.rows);
  }
  if constexpr (Gemm::kTakesRegisters) take_registers<kManyRegisters>();
  typename Gemm::TileSums d;
  multiply_share<Gemm>(d, shared, consumer, tile);
  const auto thread = band_thread<Gemm>(static_cast<int>(threadIdx.x) - kWarpgroup);
  if constexpr (Gemm::kSplits > 1) {
    __syncwarp();
    cluster_wait();  // the others have started, so that their shared memory may be written
  }
  if constexpr (Gemm::kMeets) {
    cluster_arrive_relaxed();
    cluster_wait();
  }
  if constexpr (Gemm::kSplits > 1) {
    if (!reduce_band<Gemm>(d, shared, tile, thread)) return;
  }
  named_sync(kReadBarrier, kReadThreads);
  store_band<Gemm>(d, out, shared, tile, thread);
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
