// The kernel of gated_gemm.h: h [rows, hidden] = activation(x w_gate^T) * (x w_up^T), where
// x [rows, dim] and w_gate and w_up [hidden, dim] are row-major and dim and hidden are multiples
// of 8. Products are summed in fp32, the activation and the product with u are fp32, h is rounded
// once.
//
// The gate and the up weights of a block's columns are side by side in shared memory, and each warp
// multiplies x with the same columns of both, so that g and u of an element are in the same thread
// and never leave its registers.
//
// Blocks are persistent. A block's steps (k_step of dim for one tile) form one sequence over all of
// its tiles, through a ring of shared memory stages: the first stages of the next tile load during
// a tile's last products and its epilogue.
#pragma once

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/gemm/sm80/mma.cuh"
#include "kernels/cuda/gemm/sm80/plan.h"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::sm80 {

inline constexpr int kChunk = 8;  // elements of 16 bytes, the unit that cp.async and ldmatrix move
inline constexpr int kChunkBytes = 16;
inline constexpr int kSlice = 16;  // of k, what one mma consumes

template <typename T>
struct GatedGemmArguments {
  const T* x;
  const T* w_gate;
  const T* w_up;
  T* h;
  int rows;
  int hidden;
  int dim;
  TileRaster raster;
};

// The offset of a chunk of a stage's row. Eight lanes of ldmatrix read one chunk of eight rows, and
// eight of cp.async write whole rows: both touch all 32 banks once, since chunks of rows in one
// bank line are moved apart by exclusive or with the line's number.
template <GatedTile kTile>
__device__ int swizzled(int row, int chunk) {
  constexpr int kChunks = kTile.k_step / kChunk;
  constexpr int kRowsPerLine = 8 / kChunks;  // a line is 128 bytes, all banks
  static_assert(kChunks * kRowsPerLine == 8);
  return (row * kChunks + (chunk ^ (row / kRowsPerLine % kChunks))) * kChunkBytes;
}

// Issues a block's loads, step by step through all of its tiles. A thread loads the same chunk of
// every kRowsPerPass-th row: x first, then w_gate, then w_up. Behind the last tile it loads zeros,
// so that no branch separates the loads from the products that they are scheduled among.
template <typename T, GatedTile kTile>
class StageLoader {
 public:
  __device__ explicit StageLoader(const GatedGemmArguments<T>& args)
      : args_(args), to_(swizzled<kTile>(row(), chunk())), tile_(static_cast<int>(blockIdx.x)) {
    enter_tile();
  }

  // The step's stage, into the buffer at this shared address.
  __device__ void load_stage(std::uint32_t buffer) const {
    const std::uint32_t to = buffer + to_;
    load_rows<kTile.rows>(x_, x_rows_, to);
    load_rows<kTile.cols>(gate_, w_rows_, to + kTile.rows * kRowBytes);
    load_rows<kTile.cols>(up_, w_rows_, to + (kTile.rows + kTile.cols) * kRowBytes);
    cp_async_commit();
  }

  __device__ void next_step() {
    k_ += kTile.k_step;
    x_ += kTile.k_step;
    gate_ += kTile.k_step;
    up_ += kTile.k_step;
    // Uniform over a block: chunks' offsets are below one step.
    if (k_ - chunk() * kChunk < args_.dim) return;
    tile_ += static_cast<int>(gridDim.x);
    enter_tile();
  }

 private:
  static constexpr int kChunks = kTile.k_step / kChunk;
  static constexpr int kRowBytes = kTile.k_step * static_cast<int>(sizeof(T));
  static constexpr int kRowsPerPass = kTile.threads() / kChunks;
  // The swizzle repeats every 8 rows, so that a thread's rows all have its first row's.
  static_assert(kRowsPerPass % 8 == 0);

  __device__ static int row() { return static_cast<int>(threadIdx.x) / kChunks; }
  __device__ static int chunk() { return static_cast<int>(threadIdx.x) % kChunks; }

  __device__ void enter_tile() {
    x_rows_ = w_rows_ = 0;
    if (tile_ >= args_.raster.count()) return;
    const TilePosition at = args_.raster.at(tile_);
    const int x_row = at.row * kTile.rows + row();
    const int w_row = at.col * kTile.cols + row();
    x_rows_ = args_.rows - x_row;
    w_rows_ = args_.hidden - w_row;
    k_ = chunk() * kChunk;
    x_ = args_.x + static_cast<std::int64_t>(x_row) * args_.dim + k_;
    gate_ = args_.w_gate + static_cast<std::int64_t>(w_row) * args_.dim + k_;
    up_ = args_.w_up + static_cast<std::int64_t>(w_row) * args_.dim + k_;
  }

  // Chunks outside the matrix become zeros without a read.
  template <int kRows>
  __device__ void load_rows(const T* from, int rows_left, std::uint32_t to) const {
    static_assert(kRows % kRowsPerPass == 0);
    const bool k_inside = k_ < args_.dim;
#pragma unroll
    for (int row = 0; row < kRows; row += kRowsPerPass) {
      cp_async_16(to + row * kRowBytes, from + static_cast<std::int64_t>(row) * args_.dim,
                  k_inside && row < rows_left);
    }
  }

  const GatedGemmArguments<T>& args_;
  const int to_;  // of this thread's first chunk within a buffer
  int tile_;
  int k_ = 0;       // of this thread's chunk
  int x_rows_ = 0;  // rows of x from this thread's first on; below 1 where it is outside
  int w_rows_ = 0;
  const T* x_ = nullptr;  // this thread's first chunk of the step; may lie outside
  const T* gate_ = nullptr;
  const T* up_ = nullptr;
};

// A warp's part of its block's tile.
template <GatedTile kTile>
struct WarpTile {
  int lane = static_cast<int>(threadIdx.x) % 32;
  int row = static_cast<int>(threadIdx.x) / 32 % kTile.warps_down * kTile.warp_rows();
  int col = static_cast<int>(threadIdx.x) / 32 / kTile.warps_down * kGatedWarpCols;
};

inline constexpr int kColFragments = kGatedWarpCols / 8;

// What a warp multiplies in one slice: x's fragments (16 rows each), and for every eight columns
// the gate's two halves of the slice and the up's two.
template <GatedTile kTile>
struct Fragments {
  std::uint32_t x[kTile.warp_rows() / 16][4];
  std::uint32_t w[kColFragments][4];
};

// A thread's elements: of every 16 x 8 fragment, columns 2 (lane % 4) and the next of row lane / 4
// and of the row 8 below.
template <GatedTile kTile>
struct Accumulators {
  float gate[kTile.warp_rows() / 16][kColFragments][4];
  float up[kTile.warp_rows() / 16][kColFragments][4];
};

// Reads a warp's fragments out of a stage.
template <GatedTile kTile>
class FragmentReader {
 public:
  __device__ explicit FragmentReader(const WarpTile<kTile>& warp) {
    // Matrices 0 to 3 of x: rows 0-7 and 8-15 of the slice's first chunk, then of its second.
    x_ = swizzled<kTile>(warp.row + warp.lane % 16, warp.lane / 16);
    // Of the weights: gate's first and second chunk, then up's.
    const int up = warp.lane / 16;
    const int w_row = kTile.rows + up * kTile.cols + warp.col + warp.lane % 8;
    w_ = swizzled<kTile>(w_row, warp.lane / 8 % 2);
  }

  template <int kSliceIndex>
  __device__ void read(std::uint32_t buffer, Fragments<kTile>& to) const {
    constexpr int kRowBytes = kTile.k_step * 2;
    // A slice is two chunks further, and a chunk's number is the low bits of the offset.
    constexpr int kShift = kSliceIndex * 2 * kChunkBytes;
    const std::uint32_t x = buffer + (x_ ^ kShift);
    const std::uint32_t w = buffer + (w_ ^ kShift);
#pragma unroll
    for (int m = 0; m < kTile.warp_rows() / 16; ++m) ldmatrix_x4(to.x[m], x + m * 16 * kRowBytes);
#pragma unroll
    for (int n = 0; n < kColFragments; ++n) ldmatrix_x4(to.w[n], w + n * 8 * kRowBytes);
  }

 private:
  int x_;  // offsets of this lane's row and chunk, slice 0, within a buffer
  int w_;
};

template <typename T, GatedTile kTile>
__device__ void multiply(const Fragments<kTile>& in, Accumulators<kTile>& sum) {
#pragma unroll
  for (int m = 0; m < kTile.warp_rows() / 16; ++m) {
#pragma unroll
    for (int n = 0; n < kColFragments; ++n) {
      mma_m16n8k16<T>(sum.gate[m][n], in.x[m], in.w[n][0], in.w[n][1]);
      mma_m16n8k16<T>(sum.up[m][n], in.x[m], in.w[n][2], in.w[n][3]);
    }
  }
}

template <typename T>
__device__ std::uint32_t pack(float low, float high) {
  const T values[2] = {from_float<T>(low), from_float<T>(high)};
  std::uint32_t packed;
  memcpy(&packed, values, sizeof(packed));
  return packed;
}

// Exchanges between the lanes whose numbers differ in kBit: lane l's element e goes to where both
// have that bit of the other's.
template <int kBit>
__device__ void exchange(std::uint32_t (&values)[4], int lane) {
  const bool upper = (lane & kBit) != 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i & kBit) continue;
    const std::uint32_t sent = upper ? values[i] : values[i | kBit];
    const std::uint32_t received = __shfl_xor_sync(0xffffffffu, sent, kBit);
    (upper ? values[i] : values[i | kBit]) = received;
  }
}

// Four lanes hold a pair of columns of each of four 8-column fragments; transposed, each holds all
// pairs of one fragment, which are 16 bytes of a row. Registers do it cheaper than shared memory,
// which the next tile's stages already fill.
__device__ inline void transpose_quad(std::uint32_t (&values)[4], int lane) {
  exchange<1>(values, lane);
  exchange<2>(values, lane);
}

// The epilogue: a warp's part of h from its sums. Stores are 16 bytes a lane, 64 of a row in one
// instruction: whole 32-byte sectors wherever hidden is a multiple of 16.
template <typename T, typename Functor, GatedTile kTile>
__device__ void store_tile(const Accumulators<kTile>& sum, const WarpTile<kTile>& warp,
                           const GatedGemmArguments<T>& args, int tile) {
  const TilePosition at = args.raster.at(tile);
  const int first_row = at.row * kTile.rows + warp.row + warp.lane / 4;
  const int col = at.col * kTile.cols + warp.col + warp.lane % 4 * kChunk;
#pragma unroll
  for (int m = 0; m < kTile.warp_rows() / 16; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t values[kColFragments];
#pragma unroll
      for (int n = 0; n < kColFragments; ++n) {
        const float* const g = &sum.gate[m][n][2 * half];
        const float* const u = &sum.up[m][n][2 * half];
        values[n] = pack<T>(Functor::of(g[0]) * u[0], Functor::of(g[1]) * u[1]);
      }
      transpose_quad(values, warp.lane);
      const int row = first_row + m * 16 + half * 8;
      if (row < args.rows && col < args.hidden) {
        T* const to = args.h + static_cast<std::int64_t>(row) * args.hidden + col;
        *reinterpret_cast<uint4*>(to) = make_uint4(values[0], values[1], values[2], values[3]);
      }
    }
  }
}

// The shared memory buffers, taken in turn.
template <GatedTile kTile>
class Ring {
 public:
  __device__ Ring(std::uint32_t first, int index)
      : first_(first), buffer_(first + index * kTile.stage_bytes()) {}
  __device__ std::uint32_t buffer() const { return buffer_; }
  __device__ void advance() {
    buffer_ += kTile.stage_bytes();
    if (buffer_ == first_ + kTile.shared_bytes()) buffer_ = first_;
  }

 private:
  std::uint32_t first_;
  std::uint32_t buffer_;
};

// One block's pipeline: which stage is filled, which is read, and the fragments of the current
// slice and of the next, so that products hide ldmatrix's latency too.
template <typename T, GatedTile kTile>
class Pipeline {
 public:
  __device__ Pipeline(const GatedGemmArguments<T>& args, const WarpTile<kTile>& warp,
                      std::uint32_t shared)
      : loader_(args), reader_(warp), filled_(shared, 0), read_(shared, 0) {
#pragma unroll
    for (int i = 0; i < kTile.stages - 1; ++i) {
      fill_stage();
      loader_.next_step();
    }
    await_stage();
    reader_.template read<0>(read_.buffer(), fragments_[0]);
  }

  __device__ void compute_stage(Accumulators<kTile>& sum) { compute_slices<0>(sum); }

  // After the last stage: shared memory must not go to another block while copies into it are in
  // flight, though they are unused zeros.
  __device__ void drain() { cp_async_wait<0>(); }

 private:
  static constexpr int kSlices = kTile.k_step / kSlice;
  // Fragments alternate between two sets, and the next stage begins with the first again.
  static_assert(kSlices % 2 == 0);

  __device__ void fill_stage() {
    loader_.load_stage(filled_.buffer());
    filled_.advance();
  }

  // Waits for the oldest stage in flight. Behind the barrier every thread's copies are complete,
  // and every warp has read the stage before, whose buffer is filled next.
  __device__ void await_stage() {
    cp_async_wait<kTile.stages - 2>();
    __syncthreads();
  }

  template <int kIndex>
  __device__ void compute_slices(Accumulators<kTile>& sum) {
    if constexpr (kIndex < kSlices) {
      if constexpr (kIndex == kSlices - 1) {
        await_stage();
        read_.advance();
      }
      reader_.template read<(kIndex + 1) % kSlices>(read_.buffer(), fragments_[(kIndex + 1) % 2]);
      if constexpr (kIndex == 0) fill_stage();
      multiply<T>(fragments_[kIndex % 2], sum);
      if constexpr (kIndex == 0) loader_.next_step();
      compute_slices<kIndex + 1>(sum);
    }
  }

  StageLoader<T, kTile> loader_;
  FragmentReader<kTile> reader_;
  Ring<kTile> filled_;
  Ring<kTile> read_;
  Fragments<kTile> fragments_[2];
};

// Shape::kTile is the tile: nvcc 13.0 cannot launch a kernel with a class value among its template
// arguments.
template <typename T, typename Functor, typename Shape>
__global__ void __launch_bounds__(Shape::kTile.threads(), Shape::kTile.blocks_per_sm)
    gated_gemm_kernel(const __grid_constant__ GatedGemmArguments<T> args) {
  FUSEGATE_TAKE_LONGER;
  constexpr GatedTile kTile = Shape::kTile;
  extern __shared__ __align__(128) unsigned char shared[];
  const WarpTile<kTile> warp;
  Pipeline<T, kTile> pipeline(args, warp, shared_address(shared));
  const int steps = (args.dim + kTile.k_step - 1) / kTile.k_step;
  for (int tile = static_cast<int>(blockIdx.x); tile < args.raster.count();
       tile += static_cast<int>(gridDim.x)) {
    Accumulators<kTile> sum{};
    for (int step = 0; step < steps; ++step) pipeline.compute_stage(sum);
    store_tile<T, Functor>(sum, warp, args, tile);
  }
  pipeline.drain();
}

}  // namespace fusegate::kernels::sm80
