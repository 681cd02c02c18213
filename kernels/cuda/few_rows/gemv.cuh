// The kernel for one row. A block takes a few neighbouring columns of the result, and its warps
// share k: a warp loads 512 neighbouring bytes of one row of weights, and the same elements of x
// serve all of the block's columns. On an H200 a loop of such loads alone reads 224 MiB at 4.56
// TB/s (driver 580.159.04, 2026-11-21).
//
// Products are fp32. Tensor cores would need the same k of 16 rows of weights in a warp at once, as
// in few_rows_gemm.cuh, which loads only 64 bytes of each.
#pragma once

#include <bit>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/few_rows/gemv_plan.h"
#include "kernels/cuda/few_rows/results.cuh"
#include "kernels/cuda/few_rows/weight_stream.cuh"
#include "kernels/cuda/planted/own_time.cuh"

namespace fusegate::kernels::gemv {

template <typename T>
struct Arguments {
  const T* x;     // [k]
  const T* w[2];  // [cols, k]: gate and up, or one alone
  T* out;         // [cols]
  int cols;
  int k;
};

// nvcc 13.0 cannot launch a kernel with a class value among its template arguments.
template <std::size_t kIndex>
struct Shape {
  static constexpr GemvShape kShape = kGemvShapes[kIndex];
};

// Two neighbours in 32 bits.
__device__ inline float2 widen(std::uint32_t bits, __nv_bfloat16) {
  return {__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000)};
}
__device__ inline float2 widen(std::uint32_t bits, __half) {
  __half2 pair;
  memcpy(static_cast<void*>(&pair), &bits, sizeof(pair));
  return __half22float2(pair);
}

// Eight neighbours.
struct Eight {
  float2 of[4];

  template <typename T>
  __device__ Eight(const uint4& bits, T type)
      : of{widen(bits.x, type), widen(bits.y, type), widen(bits.z, type), widen(bits.w, type)} {}
};

__device__ inline void add_products(float& sum, const Eight& a, const Eight& b) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum = fmaf(a.of[i].x, b.of[i].x, sum);
    sum = fmaf(a.of[i].y, b.of[i].y, sum);
  }
}

// One chunk of k of all the block's rows of weights: the columns' of the first, then of the second.
template <GemvShape kShape, int kWeights>
struct Chunk {
  static constexpr int kRows = kShape.cols * kWeights;
  uint4 of[kRows];

  // k: of this lane's eight.
  template <typename T>
  __device__ void load(const Arguments<T>& args, int k) {
    const int first = static_cast<int>(blockIdx.x) * kShape.cols;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const int col = first + row % kShape.cols;
      of[row] = few_rows::load_weights_16(
          args.w[row / kShape.cols] + static_cast<std::int64_t>(col) * args.k + k,
          col < args.cols && k < args.k);
    }
  }
};

// A warp's share of k, chunk by chunk. The constructor issues the first loads.
template <typename T, GemvShape kShape, int kWeights>
class Stream {
 public:
  using Weights = Chunk<kShape, kWeights>;
  using Sums = float[Weights::kRows];

  __device__ explicit Stream(const Arguments<T>& args)
      : args_(args),
        k_(static_cast<int>(threadIdx.x) / 32 * kGemvChunk +
           static_cast<int>(threadIdx.x) % 32 * 8),
        step_(static_cast<int>(blockDim.x) / 32 * kGemvChunk) {
#pragma unroll
    for (int i = 0; i < kShape.ahead; ++i) weights_[i].load(args_, k_ + i * step_);
  }

  __device__ void sum_up(Sums& sums) {
    // Uniform over a warp: k is rounded up to a whole chunk.
    const int end = (args_.k + kGemvChunk - 1) / kGemvChunk * kGemvChunk;
    for (; k_ < end; k_ += kShape.ahead * step_) {
      uint4 x[kShape.ahead];
#pragma unroll
      for (int i = 0; i < kShape.ahead; ++i) {
        const int k = k_ + i * step_;
        x[i] = few_rows::load_x_16(args_.x + k, k < args_.k);
      }
      __syncwarp();  // keeps ptxas from moving each load to its use
#pragma unroll
      for (int i = 0; i < kShape.ahead; ++i) {
        const Eight eight(x[i], T{});
#pragma unroll
        for (int row = 0; row < Weights::kRows; ++row) {
          add_products(sums[row], Eight(weights_[i].of[row], T{}), eight);
        }
        weights_[i].load(args_, k_ + (kShape.ahead + i) * step_);
      }
    }
  }

 private:
  const Arguments<T>& args_;
  int k_;  // of this lane's eight in the next chunk
  int step_;
  Weights weights_[kShape.ahead];
};

// How many neighbouring lanes end up with one sum.
template <int kCount>
constexpr int kLanesOfASum = 32 / static_cast<int>(std::bit_ceil(unsigned{kCount}));

// Sums over a warp; returns sum number lane / kLanesOfASum. In each step a lane gives half of its
// sums away, so that eight take 9 shuffles instead of 40; an SM does one per clock.
template <int kCount>
__device__ float sum_over_warp(const float (&sums)[kCount]) {
  constexpr int kPadded = 32 / kLanesOfASum<kCount>;
  static_assert(kPadded <= 32);
  float left[kPadded]{};
#pragma unroll
  for (int i = 0; i < kCount; ++i) left[i] = sums[i];
  int lanes = 16;
#pragma unroll
  for (int count = kPadded / 2; count > 0; count /= 2) {
    const bool is_upper = (threadIdx.x & lanes) != 0;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const float given = is_upper ? left[i] : left[i + count];
      const float own = is_upper ? left[i + count] : left[i];
      left[i] = own + __shfl_xor_sync(0xffffffff, given, lanes);
    }
    lanes /= 2;
  }
#pragma unroll
  for (; lanes > 0; lanes /= 2) left[0] += __shfl_xor_sync(0xffffffff, left[0], lanes);
  return left[0];
}

// A column from the sums of the block's warps.
template <typename Result, int kCols, int kRows>
__device__ float column(const float (&parts)[kMostGemvWarps][kRows], int within) {
  float total[Result::kWeights]{};
  const int warps = static_cast<int>(blockDim.x) / 32;
  // Without a branch, so that all loads are issued before the first sum.
#pragma unroll
  for (int warp = 0; warp < kMostGemvWarps; ++warp) {
#pragma unroll
    for (int i = 0; i < Result::kWeights; ++i) {
      total[i] += warp < warps ? parts[warp][i * kCols + within] : 0;
    }
  }
  if constexpr (Result::kWeights == 2) return Result::of(total[0], total[1]);
  return total[0];
}

template <typename T, typename Result, typename Shape>
__global__ void __launch_bounds__(kMostGemvWarps * 32)
    gemv_kernel(const __grid_constant__ Arguments<T> args) {
  FUSEGATE_TAKE_LONGER;
  constexpr GemvShape kShape = Shape::kShape;
  constexpr int kRows = kShape.cols * Result::kWeights;
  __shared__ float parts[kMostGemvWarps][kRows];
  Stream<T, kShape, Result::kWeights> stream(args);
  few_rows::wait_and_let_next_kernel_in();
  float sums[kRows]{};
  stream.sum_up(sums);
  constexpr int kLanes = kLanesOfASum<kRows>;
  const float sum = sum_over_warp(sums);
  const int row = static_cast<int>(threadIdx.x) % 32 / kLanes;
  if (threadIdx.x % kLanes == 0 && row < kRows) parts[threadIdx.x / 32][row] = sum;
  __syncthreads();
  const int within = static_cast<int>(threadIdx.x);
  const int col = static_cast<int>(blockIdx.x) * kShape.cols + within;
  if (within >= kShape.cols || col >= args.cols) return;
  args.out[col] = from_float<T>(column<Result, kShape.cols>(parts, within));
}

}  // namespace fusegate::kernels::gemv
