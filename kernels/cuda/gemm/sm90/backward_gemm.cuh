// The backward pass of a gated unit as the epilogue of the product that it begins with. Of
// dh [m, n] = dy [m, k] w [k, n], w as a down product stores it, and of g and u [m, n]:
//
//   dg = activation'(g) * u * dh,   du = activation(g) * dh,   h = activation(g) * u
//
// so that dh never reaches device memory: 2 m n elements less of 7, and no kernel that waits for
// memory alone. dh is rounded to the dtype, as a tensor of it would be.
//
// Consumers take turns (gated_pingpong.cuh). While one multiplies, the other works through its
// tile, a part at a time. Beside the producer, a thread of each consumer's, its
// mover, loads g and u of such a part by TMA, two parts ahead, and stores what becomes of them: dg
// takes g's place in shared memory and du takes u's, so dg may also be g and du be u.
#pragma once

#include "kernels/cuda/gemm/sm90/gated_pingpong.cuh"

namespace fusegate::kernels::sm90 {

struct BackwardMaps {
  XMaps x;                      // dy
  CUtensorMap w;                // boxes of a block's share of a stage's rows, and of 64 columns
  CUtensorMap g, u, dg, du, h;  // boxes of a part

  __device__ void prefetch() const {
    x.prefetch();
    for (const CUtensorMap* map : {&w, &g, &u, &dg, &du, &h}) prefetch_map(*map);
  }
};

// kColumns: of dh; kPartColumns: of a part.
template <typename Functor_, int kColumns_, int kStages_, int kCluster_, int kPartColumns_>
struct BackwardGemm {
  using T = __nv_bfloat16;
  using Functor = Functor_;  // the activation
  using Maps = BackwardMaps;
  using Work = GatedWork;
  using Shape = PlainTileShape<T, kColumns_, kStages_>;
  static constexpr int kColumns = kColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kCluster = kCluster_;
  static constexpr int kReaders = 1;                            // consumers that read a stage
  static constexpr int kRowsOfW = kStageColumns<T> / kCluster;  // of a stage, that a block loads
  using Part = OutputTile<T, kPartColumns_, 64>;
  static constexpr int kAcross = kColumns / Part::kColumns;
  static constexpr int kParts = kTurnHalves * kAcross;  // of a tile
  static_assert(kColumns % Part::kColumns == 0 && kColumns % Shape::kBoxColumns == 0);
  // A consumer's hand: so many sets of g (then dg), u (then du) and dh (then h).
  static constexpr int kSets = 2;
  static constexpr int kSetBytes = 3 * Part::kBytes;
  static constexpr int kHandBytes = kSets * kSetBytes;
  static constexpr int kHandBarriers = 2 * kSets;
  static constexpr int kHandsBytes = kConsumers * (kHandBytes + kHandBarriers * 8);
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);
};

// A set of a consumer's hand, for the n-th part of all its tiles.
template <typename Gemm>
struct BackwardSet {
  std::uint32_t g = 0, u = 0, dh = 0;
  std::uint32_t loaded = 0, written = 0;  // barriers
  std::uint32_t parity = 0;               // of both for this part

  __device__ BackwardSet(const TileShared<Gemm>& shared, int consumer, int n) {
    const int set = n % Gemm::kSets;
    g = shared.hand(consumer) + set * Gemm::kSetBytes;
    u = g + Gemm::Part::kBytes;
    dh = u + Gemm::Part::kBytes;
    loaded = shared.hand(kConsumers) + (consumer * Gemm::kHandBarriers + 2 * set) * 8;
    written = loaded + 8;
    parity = n / Gemm::kSets & 1;
  }
};

// By one thread, before the block starts.
template <typename Gemm>
__device__ inline void init_sets(const TileShared<Gemm>& shared) {
  for (int consumer = 0; consumer < kConsumers; ++consumer) {
    for (int set = 0; set < Gemm::kSets; ++set) {
      const BackwardSet<Gemm> at(shared, consumer, set);
      barrier_init(at.loaded, 1);
      barrier_init(at.written, kWarpgroup / 32);
    }
  }
}

// This block's share of a stage of w, to each block of the cluster.
template <typename Gemm>
__device__ inline void load_weights(const BackwardMaps& maps, const TileShared<Gemm>& shared,
                                    int rank, const TilePosition& tile, int i, int stage) {
  using Shape = typename Gemm::Shape;
  constexpr std::uint16_t kAllBlocks = (1 << Gemm::kCluster) - 1;
  const int row = rank * Gemm::kRowsOfW;
  const std::uint32_t w = shared.stage(stage) + Shape::kXBytes + row * kStageRowBytes;
#pragma unroll
  for (int box = 0; box < Gemm::kColumns / Shape::kBoxColumns; ++box) {
    load_box_multicast(maps.w, w + box * Shape::kBoxBytes, shared.full_at(stage),
                       tile.col * Gemm::kColumns + box * Shape::kBoxColumns,
                       i * kStageColumns<typename Gemm::T> + row, kAllBlocks);
  }
}

template <typename Gemm>
struct BackwardMover {
  const BackwardMaps& maps;
  const TileShared<Gemm>& shared;
  const typename Gemm::Work& work;
  int consumer = 0;

  __device__ void run() const {
    wait_for_previous_kernel();
    const int parts = count();
    for (int n = 0; n < min(Gemm::kSets, parts); ++n) load(n);
    for (int n = 0; n < parts; ++n) {
      store(n);
      if (n + Gemm::kSets >= parts) continue;
      wait_stores_read();
      load(n + Gemm::kSets);
    }
    wait_stores();
  }

 private:
  struct Corner {
    int column = 0, row = 0;
  };

  __device__ int count() const {
    const int left = work.raster.count() - work.first - consumer * work.step;
    const int step = kConsumers * work.step;
    return left <= 0 ? 0 : (left + step - 1) / step * Gemm::kParts;
  }
  __device__ Corner corner(int n) const {
    const int number = consumer + n / Gemm::kParts * kConsumers, part = n % Gemm::kParts;
    const TilePosition tile = work.raster.at(work.first + number * work.step);
    return {tile.col * Gemm::kColumns + part % Gemm::kAcross * Gemm::Part::kColumns,
            work.template row<Gemm>(tile) + part / Gemm::kAcross * Gemm::Part::kRows};
  }
  __device__ void load(int n) const {
    const BackwardSet<Gemm> set(shared, consumer, n);
    const Corner at = corner(n);
    barrier_expect_bytes(set.loaded, 2 * Gemm::Part::kBytes);
    load_box(maps.g, set.g, set.loaded, at.column, at.row);
    load_box(maps.u, set.u, set.loaded, at.column, at.row);
  }
  __device__ void store(int n) const {
    const BackwardSet<Gemm> set(shared, consumer, n);
    const Corner at = corner(n);
    barrier_wait(set.written, set.parity);
    store_box(maps.dg, set.g, at.column, at.row);
    store_box(maps.du, set.u, at.column, at.row);
    store_box(maps.h, set.dh, at.column, at.row);
    commit_stores();
  }
};

template <typename Gemm>
struct BackwardConsumer {
  const TileShared<Gemm>& shared;
  const typename Gemm::Work& work;
  int number = 0;

  using Part = typename Gemm::Part;
  using TileSums = Sums<kTurnHalves, Gemm::Shape::kWidth / 2>;

  __device__ void run() const {
    int n = 0;
    take_turns<Gemm>(shared, work, number, [&](const TileSums& dh, const TilePosition&) {
    // One copy of the activation's code.
#pragma unroll 1
      for (int part = 0; part < Gemm::kParts; ++part, ++n) finish(dh, part, n);
    });
  }

 private:
  __device__ void finish(const TileSums& dh, int part, int n) const {
    const BackwardSet<Gemm> set(shared, number, n);
    barrier_wait(set.loaded, set.parity);
    write_dh(dh, part, set.dh);
    named_sync(kOwnBarrier + number, kWarpgroup);
    // The three parts have one layout, so the swizzle does not matter.
#pragma unroll 2
    for (int i = threadIdx.x % kWarpgroup * 16; i < Part::kBytes; i += kWarpgroup * 16) {
      overwrite(set.g + i, set.u + i, set.dh + i);
    }
    fence_async_proxy();
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(set.written);
  }

  // Sums stay in registers: each part's are written by code of its own.
  __device__ void write_dh(const TileSums& dh, int part, std::uint32_t to) const {
    const int row = threadIdx.x % kWarpgroup / 32 * 16;
#pragma unroll
    for (int i = 0; i < Gemm::kParts; ++i) {
      if (i != part) continue;
      const float* const sums = dh[i / Gemm::kAcross] + i % Gemm::kAcross * Part::kColumns / 2;
      write_rows<Part>(to, row, 0, [&](int j) { return float2{sums[j], sums[j + 1]}; });
    }
  }

  // Eight elements of each.
  static __device__ void overwrite(std::uint32_t g_at, std::uint32_t u_at, std::uint32_t dh_at) {
    uint4 g = load_shared(g_at), u = load_shared(u_at), dh = load_shared(dh_at);
    differentiate(g.x, u.x, dh.x);
    differentiate(g.y, u.y, dh.y);
    differentiate(g.z, u.z, dh.z);
    differentiate(g.w, u.w, dh.w);
    store_shared(g_at, g);
    store_shared(u_at, u);
    store_shared(dh_at, dh);
  }

  // Two elements of each: dg, du and h take their places.
  static __device__ void differentiate(std::uint32_t& g, std::uint32_t& u, std::uint32_t& dh) {
    using T = typename Gemm::T;
    using Functor = typename Gemm::Functor;
    const float2 of_g = unpack<T>(g), of_u = unpack<T>(u), of_dh = unpack<T>(dh);
    const float2 activated{Functor::of(of_g.x), Functor::of(of_g.y)};
    g = pack<T>(Functor::slope(of_g.x) * (of_u.x * of_dh.x),
                Functor::slope(of_g.y) * (of_u.y * of_dh.y));
    u = pack<T>(activated.x * of_dh.x, activated.y * of_dh.y);
    dh = pack<T>(activated.x * of_u.x, activated.y * of_u.y);
  }
};

// One cluster works on a tile of kCluster tiles, one above the other. rows: of dy.
template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    backward_gemm_kernel(const __grid_constant__ BackwardMaps maps,
                         const __grid_constant__ TileRaster raster, int rows, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const GatedWork work{work_of_block<Gemm>(raster, rows, k)};
  if (threadIdx.x == 0) init_sets(shared);
  start_block(shared, maps);
  let_next_kernel_start();
  run_block<Gemm>(
      [&](int consumer) {
        BackwardConsumer<Gemm>{shared, work, consumer}.run();
      },
      [&] {
        GatedProducer<Gemm>{maps, shared, work}.run();
      },
      [&] {
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const bool moves = threadIdx.x % 32 == 0 && warp > 0 && warp <= kConsumers;
        if (moves) BackwardMover<Gemm>{maps, shared, work, warp - 1}.run();
      });
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
