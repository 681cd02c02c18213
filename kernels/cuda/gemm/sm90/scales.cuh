// What a consumer's sums are multiplied with, where elements are e4m3: out = x w^T times the scales
// of x and of w, over out's own where out is quantized. Each kind makes, for the 64 rows and the
// columns that a consumer writes, a thread's Factors, whose of() scales its sums i and i + 1
// (wgmma.cuh).
#pragma once

#include "kernels/cuda/gemm/sm90/wgmma.cuh"

namespace fusegate::kernels::sm90 {

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
  __device__ Factors at(int, int) const { return {*x * *w / (out != nullptr ? *out : 1)}; }
};

// One number for each row of x, of w and of out.
struct RowScales {
  const float *x = nullptr, *w = nullptr, *out = nullptr;
  int rows = 0, columns = 0;  // of out

  struct Factors {
    float upper, lower;  // of the thread's rows
    const float* w;      // of its first two columns
    int columns;         // from there on
    __device__ float2 of(const float2& sums, int i) const {
      const int column = i / 4 * 8;
      const float row = i / 2 % 2 == 0 ? upper : lower;
      if (column >= columns) return {0, 0};
      return {sums.x * row * w[column], sums.y * row * w[column + 1]};
    }
  };
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

}  // namespace fusegate::kernels::sm90
