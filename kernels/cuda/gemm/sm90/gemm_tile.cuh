// Parts of the Hopper GEMMs, out [m, n] = x [m, k] w [n, k]^T. A tile is 128 rows of x (or 64, or
// 256) by some rows of w.
//
// A block has three warpgroups. One thread of the first, the producer, fills a ring of stages in
// shared memory by TMA; the other two, the consumers, multiply 64 rows each, or half of w's rows if
// a tile has 64 rows of x. A stage is 128 bytes of x's rows and of w's: 64 columns, or 128 of e4m3.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/gemm/sm90/ptx.cuh"
#include "kernels/cuda/gemm/sm90/scales.cuh"
#include "kernels/cuda/gemm/sm90/wgmma.cuh"

namespace fusegate::kernels::sm90 {

inline constexpr int kTileRows = 128;
inline constexpr int kStageRowBytes = 128;  // the widest swizzle
template <typename T>
inline constexpr int kStageColumns = kStageRowBytes / static_cast<int>(sizeof(T));
inline constexpr int kStepBytes = 32;  // of a row: what one wgmma multiplies
inline constexpr int kConsumers = 2;
inline constexpr int kWarpgroup = 128;
inline constexpr int kBlockThreads = (1 + kConsumers) * kWarpgroup;
inline constexpr int kConsumerRows = kTileRows / kConsumers;
// Per thread. Consumers with the sums of 128 rows each need more than a third of an SM's registers,
// so the producer's warpgroup gives some away: 128 x 40 + 256 x 232 of 65,536.
inline constexpr int kFewRegisters = 40, kManyRegisters = 232;

// kWidth: rows of w that a tile multiplies, the N of wgmma.
template <typename T_, int kWidth_, int kStages_, int kRows_ = kTileRows>
struct TileShape {
  using T = T_;
  static constexpr int kWidth = kWidth_;
  static constexpr int kStages = kStages_;
  static constexpr int kRows = kRows_;
  static constexpr int kXBytes = kRows * kStageRowBytes;
  static constexpr int kWBytes = kWidth * kStageRowBytes;
  static constexpr int kStageBytes = kXBytes + kWBytes;
  // Both consumers multiply all rows of x, each by half of w's.
  static constexpr bool kShares = kRows == kConsumerRows;
  static constexpr bool kPlainW = false;  // w lies as [k, n], and a stage is boxes of 64 columns
};
template <typename T, int kWidth, int kStages, int kRows>
struct SharingTileShape : TileShape<T, kWidth, kStages, kRows> {
  static constexpr bool kShares = true;
};
template <typename T, int kWidth, int kStages>
struct PlainTileShape : TileShape<T, kWidth, kStages> {
  static constexpr bool kPlainW = true;
  static constexpr int kBoxColumns = 64, kBoxBytes = kStageColumns<T> * kStageRowBytes;
};

// Of the ring, for the swizzle.
inline constexpr std::uint32_t kSwizzleAlignment = 1024;
// Of a block on compute capability 9.0.
inline constexpr int kMostSharedBytes = 227 * 1024;

// The ring's barriers: full when a stage's bytes are in, empty when all its readers are done.
template <int kStages>
struct RingBarriers {
  std::uint64_t full[kStages];
  std::uint64_t empty[kStages];
};

// An iteration's stage of the ring, and the parity of its barriers' phase.
template <int kStages>
struct RingPosition {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  __device__ void advance_by(int steps) {
    const int next = stage + steps;
    parity ^= next / kStages & 1;
    stage = next % kStages;
  }
};

// Boxes of a tile's rows of x and of a stage's columns. The TMA is slower with a box that extends
// beyond its matrix than with a whole one (the MLP of 64 x 768 x 3072 took 13.1 us where 128 rows
// took 8.5; now 7.9: an H200). So if x has fewer rows than a tile, all boxes are as high as x, and
// the rows behind the last whole tile have a map of their own. Shared memory below them holds old
// values, which make rows of the product that are not stored.
__host__ __device__ constexpr int x_box_rows(int rows, int tile_rows) {
  return rows < tile_rows ? rows : tile_rows;
}
__host__ __device__ constexpr int x_last_rows(int rows, int tile_rows) {
  return (rows - 1) % tile_rows + 1;
}

struct XMaps {
  CUtensorMap whole, last;  // boxes of x_box_rows() and of x_last_rows()

  // Of the first tiles alone.
  __device__ void prefetch() const { prefetch_map(whole); }
  // Calls use(map, bytes) with the boxes of x's tile from `row` on; rows: x's. Two calls, so that
  // the map is a constant address in the producer's loop (docs/evidence/fused-products.md).
  template <int kRows, typename Use>
  __device__ void with_boxes(int rows, int row, const Use& use) const {
    if (row + x_box_rows(rows, kRows) <= rows) {
      use(whole, x_box_rows(rows, kRows) * kStageRowBytes);
    } else {
      use(last, x_last_rows(rows, kRows) * kStageRowBytes);
    }
  }
};

// Of a block: the ring, its barriers, and what is handed over.
template <typename Shape>
consteval int shared_bytes(int hands_bytes) {
  const int bytes = Shape::kStages * Shape::kStageBytes + hands_bytes +
                    static_cast<int>(sizeof(RingBarriers<Shape::kStages>)) +
                    static_cast<int>(kSwizzleAlignment);
  return bytes <= kMostSharedBytes ? bytes : throw "more shared memory than a block has";
}

// A block's shared memory: the ring, what each consumer hands over or stores (or other blocks hand
// over), and the ring's barriers.
template <typename Gemm>
struct TileShared {
  std::uint32_t stages = 0, hands = 0, full = 0, empty = 0;

  __device__ explicit TileShared(const void* raw) {
    stages = (shared_address(raw) + kSwizzleAlignment - 1) / kSwizzleAlignment * kSwizzleAlignment;
    hands = stages + Gemm::kStages * Gemm::Shape::kStageBytes;
    full = hands + Gemm::kHandsBytes;
    empty = full + Gemm::kStages * sizeof(std::uint64_t);
  }
  __device__ std::uint32_t stage(int i) const { return stages + i * Gemm::Shape::kStageBytes; }
  __device__ std::uint32_t hand(int i) const { return hands + i * Gemm::kHandBytes; }
  __device__ std::uint32_t full_at(int i) const { return full + i * 8; }
  __device__ std::uint32_t empty_at(int i) const { return empty + i * 8; }
};

// By a consumer that has read the stage, to every block of the cluster, since each wrote a part.
template <typename Gemm>
__device__ inline void release_stage(const TileShared<Gemm>& shared, int stage) {
  const int thread = threadIdx.x % kWarpgroup;
  if constexpr (Gemm::kCluster == 1) {
    if (thread == 0) barrier_arrive(shared.empty_at(stage));
  } else {
    if (thread % 32 == 0 && thread / 32 < Gemm::kCluster) {
      barrier_arrive_at(shared.empty_at(stage), thread / 32);
    }
  }
}

// By one thread. readers: arrivals that empty a stage.
template <int kStages, typename Shared>
__device__ void init_barriers(const Shared& shared, int readers) {
  for (int i = 0; i < kStages; ++i) {
    barrier_init(shared.full_at(i), 1);
    barrier_init(shared.empty_at(i), readers);
  }
  fence_barrier_init();
}

// By the whole block, and with it the cluster.
template <typename Gemm, typename Maps>
__device__ void start_block(const TileShared<Gemm>& shared, const Maps& maps) {
  if (threadIdx.x == 0) {
    maps.prefetch();
    init_barriers<Gemm::kStages>(shared, Gemm::kReaders * Gemm::kCluster);
  }
  if constexpr (Gemm::kCluster > 1) {
    cluster_sync();
  } else {
    __syncthreads();
  }
}

// Through a shuffle, so that the compiler knows that all lanes agree and keeps addresses in uniform
// registers, which wgmma needs. 1 to 3 % fewer cycles on an H200.
__device__ inline int warpgroup_of_warp() {
  return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
}

// Runs consume(number) in the two consumers, which hold the sums of 128 rows each, and produce() in
// one thread of the first warpgroup. beside: for its other warps, which call it.
template <typename Gemm, typename Consume, typename Produce, typename... Beside>
__device__ inline void run_block(const Consume& consume, const Produce& produce,
                                 const Beside&... beside) {
  const int warpgroup = warpgroup_of_warp();
  if (warpgroup > 0) {
    take_registers<kManyRegisters>();
    consume(warpgroup - 1);
  } else {
    give_registers<kFewRegisters>();
    if (threadIdx.x == 0) produce();
    (beside(), ...);
    __syncwarp();
  }
  // No block may end while another of its cluster writes to it or arrives at its barriers.
  if constexpr (Gemm::kCluster > 1) cluster_sync();
}

// A thread's sums of kHalves times 64 rows, what a wgmma multiplies.
template <int kHalves, int kCount>
using Sums = float[kHalves][kCount];

template <int kHalves, int kCount>
__device__ inline void pin(Sums<kHalves, kCount>& d) {
#pragma unroll
  for (int half = 0; half < kHalves; ++half) wgmma_pin(d[half]);
}

// Where a consumer's rows of x and of w begin in a stage.
struct ConsumerRows {
  int x = 0, w = 0;
};
template <typename Shape>
inline constexpr bool kSharesRows = Shape::kShares;
template <typename Shape>
inline constexpr int kConsumerWidth =
    kSharesRows<Shape> ? Shape::kWidth / kConsumers : Shape::kWidth;
template <typename Shape>
__device__ inline ConsumerRows rows_of_consumer(int consumer) {
  return kSharesRows<Shape> ? ConsumerRows{0, consumer * kConsumerWidth<Shape>}
                            : ConsumerRows{consumer * Shape::kRows / kConsumers, 0};
}

// w: a stage's; row: the consumer's first.
template <typename Shape>
__device__ inline std::uint64_t descriptor_of_w(std::uint32_t w, int row) {
  if constexpr (Shape::kPlainW) {
    return plain_descriptor(w, Shape::kBoxBytes);
  } else {
    return matrix_descriptor(w + row * kStageRowBytes);
  }
}

// One stage: wgmmas of 32 bytes of columns each, which multiply twice as many rows of w as d has
// sums. first: d is overwritten.
template <typename Shape, int kHalves, int kCount>
__device__ inline void multiply_stage(Sums<kHalves, kCount>& d, std::uint32_t stage,
                                      const ConsumerRows& rows, bool first) {
  const std::uint64_t a = matrix_descriptor(stage + rows.x * kStageRowBytes);
  const std::uint64_t b = descriptor_of_w<Shape>(stage + Shape::kXBytes, rows.w);
#pragma unroll
  for (int step = 0; step < kStageRowBytes / kStepBytes; ++step) {
    // A step is two units of a descriptor's address, or 16 rows of a plain w; 64 rows are 512.
    constexpr int kStepOfW = Shape::kPlainW ? 16 * kStageRowBytes / 16 : 2;
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      wgmma<typename Shape::T, 2 * kCount, Shape::kPlainW>(
          d[half], a + half * (64 * kStageRowBytes / 16) + 2 * step, b + kStepOfW * step,
          !first || step > 0);
    }
  }
}

// All steps of a tile. Calls release(stage) when a stage has been read, one step later, so that the
// tensor cores have work meanwhile; queued() when the last products are queued.
template <typename Shape, int kHalves, int kCount, typename Shared, typename Release,
          typename Queued>
__device__ inline void multiply_tile(Sums<kHalves, kCount>& d, const Shared& shared,
                                     RingPosition<Shape::kStages>& at, int steps,
                                     const ConsumerRows& rows, const Release& release,
                                     const Queued& queued) {
  int previous = 0;
  for (int step = 0; step < steps; ++step) {
    barrier_wait(shared.full_at(at.stage), at.parity);
    pin(d);
    wgmma_fence();
    multiply_stage<Shape>(d, shared.stage(at.stage), rows, step == 0);
    wgmma_commit();
    pin(d);
    if (step > 0) {
      wgmma_wait<1>();
      release(previous);
    }
    previous = at.stage;
    at.advance();
  }
  queued();
  wgmma_wait<0>();
  pin(d);
  release(previous);
}

// Two neighbours, rounded, the first in the lower half: one conversion instruction.
// e4m3 saturates, and both take 16 bits.
template <typename T>
__device__ inline std::uint32_t pack(float first, float second) {
  std::uint32_t bits = 0;
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 pair = __floats2half2_rn(first, second);
    memcpy(&bits, &pair, sizeof(bits));
  } else if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
    bits = __nv_cvt_float2_to_fp8x2({first, second}, __NV_SATFINITE, __NV_E4M3);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    memcpy(&bits, &pair, sizeof(bits));
  }
  return bits;
}

// The inverse.
template <typename T>
__device__ inline float2 unpack(std::uint32_t bits) {
  if constexpr (std::is_same_v<T, __half>) {
    __half2 pair;
    memcpy(static_cast<void*>(&pair), &bits, sizeof(bits));
    return __half22float2(pair);
  } else {
    __nv_bfloat162 pair;
    memcpy(static_cast<void*>(&pair), &bits, sizeof(bits));
    return __bfloat1622float2(pair);
  }
}

// A thread's word of a row for store_matrices, from sum i on. In e4m3 it is of four columns: the
// quad's threads have two each of either eight columns, and need four neighbours of sixteen.
template <typename T, typename Pair>
__device__ inline std::uint32_t word_of_row(int i, const Pair& pair) {
  const float2 first = pair(i);
  if constexpr (sizeof(T) == 2) {
    return pack<T>(first.x, first.y);
  } else {
    const float2 second = pair(i + 4);
    const std::uint32_t own = pack<T>(first.x, first.y) | pack<T>(second.x, second.y) << 16;
    const int lane = threadIdx.x % 32, quad = lane / 4 * 4, from = quad + lane % 2 * 2;
    const std::uint32_t left = __shfl_sync(0xffffffff, own, from);
    const std::uint32_t right = __shfl_sync(0xffffffff, own, from + 1);
    return lane % 4 < 2 ? (left & 0xffff) | right << 16 : left >> 16 | (right & 0xffff0000);
  }
}

// The same, with a stage's sums in registers of their own, which are then added to d's in fp32:
// tensor cores keep too few bits of long sums of e4m3 products, and blocks have scales of their own
// (kernels/operations/gated_mlp_fp8.cc). The tensor cores have the other consumer's work meanwhile.
// promotion: how they are added (scales.cuh).
template <typename Shape, int kHalves, int kCount, typename Shared, typename Release,
          typename Promotion>
__device__ inline void multiply_tile_promoted(Sums<kHalves, kCount>& d, const Shared& shared,
                                              RingPosition<Shape::kStages>& at, int steps,
                                              const ConsumerRows& rows, const Release& release,
                                              const Promotion& promotion) {
#pragma unroll
  for (int i = 0; i < kHalves * kCount; ++i) d[i / kCount][i % kCount] = 0;
  for (int step = 0; step < steps; ++step, at.advance()) {
    barrier_wait(shared.full_at(at.stage), at.parity);
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      Sums<1, kCount> sums;
      pin(sums);
      wgmma_fence();
      multiply_stage<Shape>(sums, shared.stage(at.stage), {rows.x + half * 64, rows.w}, true);
      wgmma_commit();
      const auto by = promotion.of(step, half);
      wgmma_wait<0>();
      pin(sums);
      if (half == kHalves - 1) release(at.stage);
#pragma unroll
      for (int i = 0; i < kCount; ++i) d[half][i] = by.add(d[half][i], sums[0][i], i, kCount);
    }
  }
}

// A tile of the output in shared memory, before the TMA stores it: panels of kRows rows, as wide as
// a box's swizzle, 128 or 64 bytes. A tile of another width is one panel without a swizzle (in 96
// bytes two rows of eight meet in a bank).
template <typename T_, int kColumns_, int kRows_>
struct OutputTile {
  using T = T_;
  static constexpr int kColumns = kColumns_;
  static constexpr int kRows = kRows_;
  static constexpr int kElement = static_cast<int>(sizeof(T));
  static constexpr int kInAChunk = 16 / kElement;
  static constexpr bool kSwizzled = kColumns * kElement % 64 == 0;
  static constexpr int kPanel = (kColumns * kElement % 128 == 0 ? 128
                                 : kSwizzled                    ? 64
                                                                : kColumns * kElement) /
                                kElement;
  static constexpr int kPanels = kColumns / kPanel;
  static constexpr int kPanelBytes = kRows * kPanel * kElement;
  static constexpr int kBytes = kPanels * kPanelBytes;
  static_assert(kColumns % kInAChunk == 0);

  // The offset of a row's chunk, 16 bytes.
  static __device__ int chunk_at(int row, int chunk) {
    if constexpr (kSwizzled) {
      constexpr int kChunks = kPanel / kInAChunk;
      const int swizzled = chunk % kChunks ^ (row / (8 / kChunks)) % kChunks;
      return chunk / kChunks * kPanelBytes + row * kPanel * kElement + swizzled * 16;
    } else {
      return row * kPanel * kElement + chunk * 16;
    }
  }
};

// A warp's 16 rows, the tile's from `row` on, of kColumns columns from `column` on, as wgmma.cuh
// has them in registers: pair(i) is what becomes of a thread's sums i and i + 1. Four 8x8 matrices
// at a time, two down and two across; lane l gives the address of row l % 8 of matrix l / 8.
template <typename Tile, int kColumns = Tile::kColumns, typename Pair>
__device__ inline void write_rows(std::uint32_t tile, int row, int column, const Pair& pair) {
  constexpr int kChunk = Tile::kInAChunk, kSums = kChunk / 2;  // a thread's, of a chunk of two rows
  const int lane = threadIdx.x % 32;
  const int below = row + lane / 8 % 2 * 8 + lane % 8;
  const auto word = [&](int i) { return word_of_row<typename Tile::T>(i, pair); };
#pragma unroll
  for (int i = 0; i + 2 * kSums <= kColumns / 2; i += 2 * kSums) {
    store_matrices(tile + Tile::chunk_at(below, column / kChunk + i / kSums + lane / 16), word(i),
                   word(i + 2), word(i + kSums), word(i + kSums + 2));
  }
  if constexpr (kColumns % (2 * kChunk) != 0) {  // a chunk is left
    constexpr int kLast = kColumns / 2 - kSums;
    store_matrices(tile + Tile::chunk_at(below, column / kChunk + kLast / kSums), word(kLast),
                   word(kLast + 2));
  }
}

// A matrix that warps write themselves.
struct OutputRows {
  void* data = nullptr;  // [rows, columns] of 16-bit elements
  int rows = 0, columns = 0;

  __device__ Unscaled gate() const { return {}; }
  __device__ Unscaled up() const { return {}; }
};

// Copies what a warp has written by write_rows to `to`, as far as that extends. Waits neither for
// other warps nor for the TMA: faster where a block has little to write and nothing to do
// meanwhile. first_row, first_column: of the tile in `to`.
template <typename Tile, int kColumns = Tile::kColumns>
__device__ inline void copy_rows(std::uint32_t tile, int row, int column, const OutputRows& to,
                                 int first_row, int first_column) {
  constexpr int kChunks = kColumns / 8;
  __syncwarp();
#pragma unroll 2
  for (int i = threadIdx.x % 32; i < 16 * kChunks; i += 32) {
    const int r = row + i / kChunks, c = column / 8 + i % kChunks;
    const int out_row = first_row + r, out_column = first_column + c * 8;
    if (out_row < to.rows && out_column < to.columns) {
      store_global(static_cast<char*>(to.data) +
                       (static_cast<std::int64_t>(out_row) * to.columns + out_column) * 2,
                   load_shared(tile + Tile::chunk_at(r, c)));
    }
  }
}

// By one thread, after all have written and fenced.
template <typename Tile>
__device__ inline void store_tile(const CUtensorMap& map, std::uint32_t tile, int column, int row) {
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    store_box(map, tile + panel * Tile::kPanelBytes, column + panel * Tile::kPanel, row);
  }
  commit_stores();
}

}  // namespace fusegate::kernels::sm90
