// What a consumer's sums are multiplied with, where elements are e4m3: out = x w^T times the scales
// of x and of w, over out's own where out is quantized. Each kind makes, for the 64 rows and the
// columns that a consumer writes, a thread's Factors, whose of() scales its sums i and i + 1
// (wgmma.cuh).
#pragma once

#include "kernels/cuda/gemm/sm90/wgmma.cuh"

namespace fusegate::kernels::sm90 {

// Partial sums that are added up as they are (multiply_tile_promoted).
struct AddedUp {
  __device__ AddedUp of_step(int) const { return {}; }
  __device__ AddedUp of_half(int) const { return {}; }
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

  // w's numbers are loaded as constants, which they are, so that the compiler may load them ahead.
  struct Factors {
    float upper, lower;  // of the thread's rows
    const float* w;
    int first, last;  // of the thread's columns, and of w's pairs
    __device__ float2 of(const float2& sums, int i) const {
      const float row = i / 2 % 2 == 0 ? upper : lower;
      const int column = min(first + i / 4 * 8, last);  // columns behind w's are not stored
      const float2 by = __ldg(reinterpret_cast<const float2*>(w + column));
      return {sums.x * row * by.x, sums.y * row * by.y};
    }
  };
  __device__ AddedUp promotion(int, int) const { return {}; }
  __device__ Factors at(int row, int column) const {
    const int lane = threadIdx.x % 32, upper = row + threadIdx.x % 128 / 32 * 16 + lane / 4;
    return {of_row(upper), of_row(upper + 8), w, column + lane % 4 * 2, columns - 2};
  }

  __device__ float of_row(int row) const {
    if (row >= rows) return 0;
    return x[row] / (out != nullptr ? out[row] : 1);
  }
};

// One number for each 1 x 128 elements of x and each 128 x 128 of w, row by row of blocks. Every
// stage's sums have factors of their own, so they are scaled where they are added up. A gated
// product's w is gate, and up; others have one.
struct BlockScales {
  static constexpr int kBlock = 128;
  const float *x = nullptr, *w = nullptr, *up = nullptr;
  int rows = 0, blocks = 0;  // of x; and along k

  // Of a consumer's two times 64 rows: a thread has two of each.
  struct Step {
    float x[2][2], w, up;
    struct Half {
      float w[2], up[2];
      __device__ float add(float total, float sum, int i, int count) const {
        return total + sum * (i < count / 2 ? w : up)[i / 2 % 2];
      }
    };
    __device__ Half of_half(int half) const {
      return {{x[half][0] * w, x[half][1] * w}, {x[half][0] * up, x[half][1] * up}};
    }
  };
  struct Promotion {
    const float *x[2][2], *w, *up;
    __device__ Step of_step(int step) const {
      return {{{x[0][0][step], x[0][1][step]}, {x[1][0][step], x[1][1][step]}}, w[step], up[step]};
    }
  };
  // row, column: of out, where the consumer's part begins.
  __device__ Promotion promotion(int row, int column) const {
    const int thread = row + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const auto of_row = [&](int below) {
      return x + static_cast<std::int64_t>(min(thread + below, rows - 1)) * blocks;
    };
    const int of_w = column / kBlock * blocks;
    return {{{of_row(0), of_row(8)}, {of_row(64), of_row(72)}}, w + of_w, up + of_w};
  }
  __device__ Unscaled at(int, int) const { return {}; }
};

}  // namespace fusegate::kernels::sm90
