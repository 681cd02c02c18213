// The kernel for a few rows. Weights go from memory straight to registers, 16 bytes a load:
// each is used once, so shared memory would only delay them.
//
// The weights are the 16-row operand of mma.m16n8k16, x the 8-row one. Any order of k gives the
// same product if both operands have it: so a thread's fragment elements are 8 neighbours in k, its
// 16 bytes, where the instruction's own layout would gather pairs. Elements 0 to 3 feed one mma, 4
// to 7 a second. In a gated kernel, a column's gate is in the upper and its up in the lower half of
// the 16 rows.
//
// Every warp works on all rows of x and all columns of its block, and on its turns of k, depth
// chunks each; turns go round the warps, so that a block reads its weights' rows from left to
// right. Shared memory adds the warps' sums.
#pragma once

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/few_rows/few_rows_plan.h"
#include "kernels/cuda/few_rows/results.cuh"
#include "kernels/cuda/few_rows/weight_stream.cuh"
#include "kernels/cuda/gemm/sm80/mma.cuh"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::few_rows {

template <typename T>
struct Arguments {
  const T* x;
  const T* w[2];  // gate and up, or one alone
  T* out;
  int rows;
  int cols;
  int k;
  int cols_per_block;
};

// A thread's part of its warp's fragments: a row of 8, and 8 of a chunk's 32 k.
struct ThreadPosition {
  int warp = static_cast<int>(threadIdx.x) / 32;
  int row = static_cast<int>(threadIdx.x) % 32 / 4;
  int quarter = static_cast<int>(threadIdx.x) % 4;
};

// Loads one row of every set of weights and of every tile of x, at the thread's quarter of a chunk.
// Rows outside become zeros.
template <typename T, typename Result, FewRowsShape kShape>
class Loader {
 public:
  __device__ Loader(const Arguments<T>& args, const ThreadPosition& position)
      : k_end_(args.k), x_rows_(args.rows - position.row) {
    const int first = static_cast<int>(blockIdx.x) * args.cols_per_block;
    w_rows_ = min(args.cols - first, args.cols_per_block) - position.row;
    x_ = args.x + static_cast<std::int64_t>(position.row) * args.k;
#pragma unroll
    for (int i = 0; i < Result::kWeights; ++i) {
      w_[i] = args.w[i] + static_cast<std::int64_t>(first + position.row) * args.k;
    }
  }

  // chunk: counted from this thread's k; a constant, which becomes part of the instruction.
  __device__ void load_w(uint4 (&to)[kShape.w_sets], int k, int chunk) const {
    const int ahead = chunk * kFewRowsChunk;
#pragma unroll
    for (int set = 0; set < kShape.w_sets; ++set) {
      const int row = set / Result::kWeights * 8;
      to[set] = load_weights_16(w_[set % Result::kWeights] + offset(row, k) + ahead,
                                k + ahead < k_end_ && row < w_rows_);
    }
  }

  __device__ void load_x(uint4 (&to)[kShape.x_tiles], int k, int chunk) const {
    const int ahead = chunk * kFewRowsChunk;
#pragma unroll
    for (int tile = 0; tile < kShape.x_tiles; ++tile) {
      const int row = tile * 8;
      to[tile] = load_x_16(x_ + offset(row, k) + ahead, k + ahead < k_end_ && row < x_rows_);
    }
  }

 private:
  // In 32 bits, as the plan ensures, since registers limit the loads in flight.
  __device__ unsigned offset(int row, int k) const { return row * k_end_ + k; }

  int k_end_;
  int x_rows_;  // from this thread's row of the first tile on; below 1 where it is outside
  int w_rows_;
  const T* x_;  // that row; may lie outside
  const T* w_[Result::kWeights];
};

// Two sums of each of few fragments, for the even and the odd mma, so that they need not wait for
// each other.
template <FewRowsShape kShape>
constexpr int kChains = kShape.x_tiles == 1 ? 2 : 1;

// A thread's sums: of every 16 x 8 fragment, rows 2 quarter and the next of x, with the weights'
// row position.row and, in the other half, that 8 below.
template <FewRowsShape kShape>
struct Sums {
  float of[kChains<kShape>][kShape.w_tiles()][kShape.x_tiles][4];

  __device__ float total(int tile, int n, int i) const {
    if constexpr (kChains<kShape> == 1) return of[0][tile][n][i];
    return of[0][tile][n][i] + of[1][tile][n][i];
  }
};

template <typename T, FewRowsShape kShape>
__device__ void multiply(const uint4 (&w)[kShape.w_sets], const uint4 (&x)[kShape.x_tiles],
                         Sums<kShape>& sums) {
#pragma unroll
  for (int tile = 0; tile < kShape.w_tiles(); ++tile) {
    const uint4 upper = w[2 * tile];
    uint4 lower{};
    if constexpr (kShape.w_sets > 1) lower = w[2 * tile + 1];
    const std::uint32_t first[4] = {upper.x, lower.x, upper.y, lower.y};
    const std::uint32_t second[4] = {upper.z, lower.z, upper.w, lower.w};
#pragma unroll
    for (int n = 0; n < kShape.x_tiles; ++n) {
      mma_m16n8k16<T>(sums.of[0][tile][n], first, x[n].x, x[n].y);
      mma_m16n8k16<T>(sums.of[kChains<kShape> - 1][tile][n], second, x[n].z, x[n].w);
    }
  }
}

// A warp's turns of k. The weights of depth chunks are always in flight: each load of the next turn
// is issued when this turn's chunk is used up. The constructor issues the first.
template <typename T, typename Result, FewRowsShape kShape>
class Stream {
 public:
  __device__ Stream(const Arguments<T>& args, const ThreadPosition& position)
      : loader_(args, position), k_(position.warp * kTurn + position.quarter * 8) {
#pragma unroll
    for (int i = 0; i < kShape.depth; ++i) loader_.load_w(w_[i], k_, i);
  }

  __device__ void sum_up(int k_end, Sums<kShape>& sums) {
    const int stride = static_cast<int>(blockDim.x) / 32 * kTurn;
    // Uniform over a warp: offsets are below one chunk, and k_end is rounded up to one.
    for (k_end = (k_end + kFewRowsChunk - 1) / kFewRowsChunk * kFewRowsChunk; k_ < k_end;
         k_ += stride) {
      uint4 x[kShape.depth][kShape.x_tiles];
#pragma unroll
      for (int i = 0; i < kShape.depth; ++i) loader_.load_x(x[i], k_, i);
      // Keeps ptxas from moving each load to its use, where the warp would wait for them one by
      // one.
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kShape.depth; ++i) {
        multiply<T, kShape>(w_[i], x[i], sums);
        loader_.load_w(w_[i], k_ + stride, i);
      }
    }
  }

 private:
  static constexpr int kTurn = kShape.depth * kFewRowsChunk;

  Loader<T, Result, kShape> loader_;
  int k_;  // this thread's first of the turn
  uint4 w_[kShape.depth][kShape.w_sets];
};

// All warps' sums of kTiles tiles of weights. A row of x takes 20 floats, 16 of them used, so that
// no two lanes of a warp write to the same bank.
template <FewRowsShape kShape>
class Exchange {
 public:
  // All, where they fit.
  static constexpr int kTiles = kShape.x_tiles == 1 ? kShape.w_tiles() : 1;

  __device__ void put(const ThreadPosition& position, const Sums<kShape>& sums, int first,
                      int rows) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int n = 0; n < kShape.x_tiles; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int x_row = n * 8 + position.quarter * 2 + i % 2;
          if (x_row >= rows) continue;
          of_[tile][position.warp][x_row][position.row + i / 2 * 8] =
              sums.total(first + tile, n, i);
        }
      }
    }
  }

  __device__ float total(int tile, int x_row, int w_row) const {
    const int warps = static_cast<int>(blockDim.x) / 32;
    float sum = 0;
    // Without a branch, so that all loads are issued before the first sum.
#pragma unroll
    for (int warp = 0; warp < kShape.most_warps; ++warp) {
      sum += warp < warps ? of_[tile][warp][x_row][w_row] : 0;
    }
    return sum;
  }

 private:
  static constexpr int kPitch = 20;
  float of_[kTiles][kShape.most_warps][kShape.x_rows()][kPitch];
};

// Writes the block's part of the result. Neighbouring threads take neighbouring columns.
template <typename T, typename Result, FewRowsShape kShape>
__device__ void store(const Exchange<kShape>& sums, const Arguments<T>& args, int first_tile) {
  constexpr int kCols = 16 / Result::kWeights, kAll = Exchange<kShape>::kTiles * kCols;
  const int first = static_cast<int>(blockIdx.x) * args.cols_per_block;
  const int end = min(args.cols, first + args.cols_per_block);
  for (int i = static_cast<int>(threadIdx.x); i < args.rows * kAll;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / kAll, tile = i % kAll / kCols, within = i % kCols;
    const int col = first + first_tile * kCols + i % kAll;
    if (col >= end) continue;
    float value = sums.total(tile, row, within);
    if constexpr (Result::kWeights == 2) {
      value = Result::of(value, sums.total(tile, row, within + 8));
    }
    args.out[static_cast<std::int64_t>(row) * args.cols + col] = from_float<T>(value);
  }
}

// Shape::kShape is the shape: nvcc 13.0 cannot launch a kernel with a class value among its
// template arguments.
template <typename T, typename Result, typename Shape>
__global__ void __launch_bounds__(Shape::kShape.most_warps * 32)
    few_rows_kernel(const __grid_constant__ Arguments<T> args) {
  FUSEGATE_TAKE_LONGER;
  constexpr FewRowsShape kShape = Shape::kShape;
  __shared__ Exchange<kShape> exchange;
  const ThreadPosition position;
  Stream<T, Result, kShape> stream(args, position);
  wait_and_let_next_kernel_in();
  Sums<kShape> sums{};
  stream.sum_up(args.k, sums);
#pragma unroll
  for (int tile = 0; tile < kShape.w_tiles(); tile += exchange.kTiles) {
    if (tile > 0) __syncthreads();  // the tile before is read
    exchange.put(position, sums, tile, args.rows);
    __syncthreads();
    store<T, Result, kShape>(exchange, args, tile);
  }
}

}  // namespace fusegate::kernels::few_rows
