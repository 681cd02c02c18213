// out = x w^T with the operands swapped, as in swapped_gated.cuh, and k split over the blocks of a
// cluster, as in split_gemm.cuh: for 65 to some hundred rows of x and few columns of out. A block
// owns some of the tile's rows of x, eight at a time: it writes its sums of the others' rows to
// their owners' shared memory.
#pragma once

#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/gemm/sm90/swapped_gated.cuh"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::sm90 {

// kRows: of x, by 128 columns of out. kSplits: blocks of a cluster.
template <typename T_, int kRows_, int kSplits_, int kStages_>
struct SwappedSplit {
  using T = T_;
  static constexpr int kRows = kRows_;
  static constexpr int kColumns = 128;
  static constexpr int kSplits = kSplits_;
  static constexpr int kStages = kStages_;
  static constexpr int kReaders = kConsumers;  // of a stage
  static constexpr int kCluster = 1;           // no block writes to another's ring
  using Shape = TileShape<T, kRows, kStages, kColumns>;  // the weights are what is "x" elsewhere
  using TileSums = Sums<1, kRows / 2>;
  using Output = OutputTile<kColumns / kConsumers, kRows>;  // a consumer's

  static constexpr int kGroups = kRows / 8;
  static constexpr int kMostGroups = (kGroups + kSplits - 1) / kSplits;  // of a block
  static __device__ constexpr int first_group(int rank) { return rank * kGroups / kSplits; }
  static __device__ constexpr int owner(int group) {
    int rank = 0;
    while (rank + 1 < kSplits && first_group(rank + 1) <= group) ++rank;
    return rank;
  }

  static constexpr int kThreads = kConsumers * kWarpgroup;  // which have sums, four a group
  static constexpr int kHandBytes = kMostGroups * kThreads * 16;  // of one other block
  static constexpr int kGivenBytes = (kSplits - 1) * kHandBytes;
  static constexpr int kHandsBytes = kGivenBytes + 16;  // and a barrier: all have arrived
  static __device__ std::uint32_t given(const TileShared<SwappedSplit>& shared) {
    return shared.hands + kGivenBytes;
  }
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);
  static_assert(kConsumers * Output::kBytes <= kStages * Shape::kStageBytes);
};

// What one block multiplies: its rank in the cluster, where in out its tile begins, its steps of k.
struct SwappedShare {
  int rank = 0, row = 0, column = 0, first_step = 0, steps = 0;
};

template <typename Gemm>
__device__ SwappedShare swapped_share(int k) {
  const int steps = (k + kStageColumns - 1) / kStageColumns;
  const int rank = static_cast<int>(blockIdx.x) % Gemm::kSplits;
  const int first = steps * rank / Gemm::kSplits;
  return {rank, static_cast<int>(blockIdx.y) * Gemm::kRows,
          static_cast<int>(blockIdx.x) / Gemm::kSplits * Gemm::kColumns, first,
          steps * (rank + 1) / Gemm::kSplits - first};
}

template <typename Gemm>
__device__ void produce_share(const SwappedMaps& maps, const TileShared<Gemm>& shared,
                              const SwappedShare& share) {
  const auto load_w = [&](int step, int stage) {
    barrier_expect_bytes(shared.full_at(stage), Gemm::Shape::kStageBytes);
    load_box(maps.weights, shared.stage(stage), shared.full_at(stage),
             (share.first_step + step) * kStageColumns, share.column);
  };
  const auto load_x = [&](int step, int stage) {
    load_box(maps.x, shared.stage(stage) + Gemm::Shape::kXBytes, shared.full_at(stage),
             (share.first_step + step) * kStageColumns, share.row);
  };
  const int ahead = min(Gemm::kStages, share.steps);
  // Weights are not written by kernels, so they need not wait for the kernel ahead.
#pragma unroll 1
  for (int i = 0; i < ahead; ++i) load_w(i, i);
  wait_for_previous_kernel();
#pragma unroll 1
  for (int i = 0; i < ahead; ++i) load_x(i, i);
  RingPosition<Gemm::kStages> at;
#pragma unroll 1
  for (int step = 0; step < share.steps; ++step, at.advance()) {
    if (step < ahead) continue;
    barrier_wait(shared.empty_at(at.stage), at.parity ^ 1);
    load_w(step, at.stage);
    load_x(step, at.stage);
  }
}

template <typename Gemm>
struct SwappedSplitConsumer {
  const TileShared<Gemm>& shared;
  const SwappedShare& share;
  const OutputRows& out;
  int number = 0;

  using TileSums = typename Gemm::TileSums;
  using Output = typename Gemm::Output;

  __device__ void run() const {
    TileSums d;
    RingPosition<Gemm::kStages> at;
    multiply_tile<typename Gemm::Shape>(
        d, shared, at, share.steps, {number * 64, 0},
        [&](int stage) { release_stage<Gemm>(shared, stage); }, [] {});
    if constexpr (Gemm::kSplits > 1) reduce(d);
    named_sync(kSwappedRead, Gemm::kThreads);  // the ring may be written
    store(d[0]);
  }

  __device__ std::uint32_t part_at(int part, int group) const {
    const int thread = static_cast<int>(threadIdx.x) - kWarpgroup;
    return shared.hand(part) + (group * Gemm::kThreads + thread) * 16;
  }

  // Gives the sums of the others' rows away and adds theirs of this block's.
  __device__ void reduce(TileSums& d) const {
    __syncwarp();
    cluster_wait();  // the others have started, so that their shared memory may be written
#pragma unroll
    for (int group = 0; group < Gemm::kGroups; ++group) {
      constexpr auto kOwner = [](int g) { return Gemm::owner(g); };
      const int owner = kOwner(group);
      if (owner == share.rank) continue;
      const int part = share.rank < owner ? share.rank : share.rank - 1;
      const float* const sums = &d[0][4 * group];
      store_to_block(part_at(part, group - Gemm::first_group(owner)), owner,
                     {sums[0], sums[1], sums[2], sums[3]}, Gemm::given(shared));
    }
    barrier_wait(Gemm::given(shared), 0);
#pragma unroll
    for (int group = 0; group < Gemm::kGroups; ++group) {
      if (Gemm::owner(group) != share.rank) continue;
#pragma unroll
      for (int part = 0; part < Gemm::kSplits - 1; ++part) {
        const float4 given =
            load_shared_floats(part_at(part, group - Gemm::first_group(Gemm::owner(group))));
        d[0][4 * group] += given.x, d[0][4 * group + 1] += given.y;
        d[0][4 * group + 2] += given.z, d[0][4 * group + 3] += given.w;
      }
    }
  }

  // This block's rows, transposed through the ring's memory, 64 columns a consumer.
  template <int kCount>
  __device__ void store(const float (&d)[kCount]) const {
    const std::uint32_t tile = shared.stage(0) + number * Output::kBytes;
    const int thread = threadIdx.x % kWarpgroup, warp = thread / 32;
#pragma unroll
    for (int group = 0; group < Gemm::kGroups; ++group) {
      if (Gemm::owner(group) != share.rank) continue;
      const int row = 8 * group + thread % 8;
      for (int eight = 0; eight < 2; ++eight) {
        store_transposed(
            tile + Output::chunk_at(row, 2 * warp + eight),
            pack<typename Gemm::T>(d[4 * group + 2 * eight], d[4 * group + 2 * eight + 1]));
      }
    }
    named_sync(kSwappedWritten + number, kWarpgroup);
    const int first = 8 * Gemm::first_group(share.rank);
    const int end = 8 * Gemm::first_group(share.rank + 1);
#pragma unroll 2
    for (int row = first + thread / 8; row < end; row += kWarpgroup / 8) {
      const int out_row = share.row + row;
      const int column = share.column + number * 64 + thread % 8 * 8;
      if (out_row < out.rows && column < out.columns) {
        store_global(static_cast<char*>(out.data) +
                         (static_cast<std::int64_t>(out_row) * out.columns + column) * 2,
                     load_shared(tile + Output::chunk_at(row, thread % 8)));
      }
    }
  }
};

template <typename Gemm>
__device__ inline void start_share(const TileShared<Gemm>& shared, const SwappedShare& share) {
  if (threadIdx.x == 0) {
    init_barriers<Gemm::kStages>(shared, kConsumers);
    if constexpr (Gemm::kSplits > 1) {
      const int groups = Gemm::first_group(share.rank + 1) - Gemm::first_group(share.rank);
      barrier_init(Gemm::given(shared), 1);
      fence_barrier_init();
      barrier_expect_bytes(Gemm::given(shared),
                           (Gemm::kSplits - 1) * groups * Gemm::kThreads * 16);
    }
  }
  __syncthreads();
  if constexpr (Gemm::kSplits > 1) cluster_arrive_relaxed();
}

template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    swapped_split_kernel(const __grid_constant__ SwappedMaps maps,
                         const __grid_constant__ OutputRows out, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const SwappedShare share = swapped_share<Gemm>(k);
  start_share(shared, share);
  let_next_kernel_start();
  const int consumer = warpgroup_of_warp() - 1;
  if (consumer >= 0) {
    SwappedSplitConsumer<Gemm>{shared, share, out, consumer}.run();
    return;
  }
  if (threadIdx.x == 0) produce_share(maps, shared, share);
  __syncwarp();
  if constexpr (Gemm::kSplits > 1) cluster_wait();
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
