// What a consumer's sums are multiplied with, where elements are e4m3: out = x w^T times the scales
// of x and of w, over out's own where out is quantized. Each kind makes, for the 64 rows and the
// columns that a consumer writes, a thread's Factors, whose of() scales its sums i and i + 1
// (wgmma.cuh).
#pragma once

#include <cstdint>

#include "kernels/cuda/gemm/sm90/ptx.cuh"
#include "kernels/cuda/gemm/sm90/wgmma.cuh"

namespace fusegate::kernels::sm90 {

// Partial sums that are added up as they are (multiply_tile_promoted).
struct AddedUp {
  __device__ AddedUp of(int, int) const { return {}; }
  __device__ float add(float total, float sum, int, int) const { return total + sum; }
};

struct Unscaled {
  __device__ Unscaled at(int, int) const { return {}; }
  __device__ float2 of(const float2& sums, int) const { return sums; }
};

// One number a matrix, by device addresses. out: null where it is not quantized.
struct MatrixScales {
  const float *x = nullptr, *w = nullptr, *out = nullptr;

  struct Factors {
    float all;
    __device__ float2 of(const float2& sums, int) const { return {sums.x * all, sums.y * all}; }
  };
  __device__ AddedUp promotion(int, int) const { return {}; }
  __device__ Factors at(int, int) const { return {*x * *w / (out != nullptr ? *out : 1)}; }
};

// One number for each row of x, of w and of out.
struct RowScales {
  const float *x = nullptr, *w = nullptr, *out = nullptr;
  int rows = 0, columns = 0;  // of out

  struct Factors {
    float upper, lower;  // of the thread's rows
    const float* w;      // of its first columns
    int columns;         // from there on
    __device__ float2 of(const float2& sums, int i) const {
      const float row = i / 2 % 2 == 0 ? upper : lower;
      const int column = i / 4 * 8;
      const float2 by = load_constants(w + column, column < columns);
      return {sums.x * row * by.x, sums.y * row * by.y};
    }
  };
  __device__ AddedUp promotion(int, int) const { return {}; }
  __device__ Factors at(int row, int column) const {
    const int lane = threadIdx.x % 32, upper = row + threadIdx.x % 128 / 32 * 16 + lane / 4;
    const int first = column + lane % 4 * 2;
    return {of_row(upper), of_row(upper + 8), w + first, columns - first};
  }

  __device__ float of_row(int row) const {
    if (row >= rows) return 0;
    return x[row] / (out != nullptr ? out[row] : 1);
  }
};

// One number for each 1 x 128 elements of x and each 128 x 128 of w, row by row of blocks. Every
// stage's sums have factors of their own, so they are scaled where they are added up. kGated: half
// of the sums are of up.
template <bool kGated>
struct BlockScalesOf {
  static constexpr int kBlock = 128;
  const float *x = nullptr, *w = nullptr, *up = nullptr;
  int rows = 0, blocks = 0;  // of x; and along k
  // Where w's last row of blocks begins: a block of a cluster may lie beyond out's columns.
  std::int64_t last = 0;

  // Of a thread's two rows of 64.
  struct Factors {
    float w[2], up[2];
    __device__ float add(float total, float sum, int i, int count) const {
      return total + sum * (kGated && i >= count / 2 ? up : w)[i / 2 % 2];
    }
  };
  // row: of x, the thread's first. of_w: where the blocks of its columns begin.
  struct Promotion {
    const BlockScalesOf& scales;
    int row, of_w;
    __device__ Factors of(int step, int half) const {
      const float w = scales.w[of_w + step], up = kGated ? scales.up[of_w + step] : 0;
      const float upper = of_row(half * 64, step), lower = of_row(half * 64 + 8, step);
      return {{upper * w, lower * w}, {upper * up, lower * up}};
    }
    __device__ float of_row(int below, int step) const {
      const std::int64_t at = min(row + below, scales.rows - 1);
      return scales.x[at * scales.blocks + step];
    }
  };
  // row, column: of out, where the consumer's part begins.
  __device__ Promotion promotion(int row, int column) const {
    return {*this,
            row + static_cast<int>(threadIdx.x) % 128 / 32 * 16 +
                static_cast<int>(threadIdx.x) % 32 / 4,
            min(column / kBlock * blocks, static_cast<int>(last))};
  }
  __device__ Unscaled at(int, int) const { return {}; }
};
using BlockScales = BlockScalesOf<false>;

}  // namespace fusegate::kernels::sm90
