// The shapes of split_gemm_sm90, and where one is worth measuring (autotune.h). Plain C++, tested
// without a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/contract/problem.h"
#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gemm_size.h"

namespace fusegate::kernels {

inline constexpr int kSplitGemmStep = 64;  // of k

struct SplitGemmShape {
  int rows = 128;  // of a tile; or 64, or 256
  int cols = 0;
  int stages = 0;  // of kSplitGemmStep columns of x and of w
  int splits = 0;  // blocks of a cluster, which share k
};

// The first are for both dtypes, the others for the down products of wide models, in bf16, in which
// suites have them.
inline constexpr std::size_t kSplitGemmShapesOfBoth = 11;
inline constexpr std::array<SplitGemmShape, 18> kSplitGemmShapes{{
    {.cols = 32, .stages = 8, .splits = 4},
    {.cols = 48, .stages = 8, .splits = 4},
    {.cols = 64, .stages = 6, .splits = 4},
    {.cols = 48, .stages = 8, .splits = 2},
    {.cols = 64, .stages = 8, .splits = 2},
    {.cols = 96, .stages = 6, .splits = 1},
    {.cols = 128, .stages = 6, .splits = 2},
    {.rows = 64, .cols = 48, .stages = 12, .splits = 4},
    {.rows = 64, .cols = 64, .stages = 8, .splits = 4},
    {.rows = 64, .cols = 96, .stages = 8, .splits = 2},
    {.rows = 256, .cols = 96, .stages = 5, .splits = 1},
    {.rows = 64, .cols = 64, .stages = 12, .splits = 2},
    {.rows = 64, .cols = 80, .stages = 10, .splits = 2},
    {.rows = 64, .cols = 80, .stages = 11, .splits = 4},
    {.rows = 64, .cols = 128, .stages = 8, .splits = 4},
    {.cols = 96, .stages = 6, .splits = 4},
    {.rows = 256, .cols = 96, .stages = 5, .splits = 4},
    {.rows = 256, .cols = 128, .stages = 4, .splits = 4},
}};

constexpr bool is_built_split_gemm(std::size_t shape, Dtype dtype) {
  return dtype == Dtype::kBf16 || (dtype == Dtype::kFp16 && shape < kSplitGemmShapesOfBoth);
}

// Indices of the shapes, built for the dtype, whose blocks each have a part of k and an SM of their
// own, by their number: of 132 SMs some cards run only 30 clusters of four at once, and measuring
// shows it.
std::vector<std::size_t> split_gemm_shapes(const GemmSize& size, Dtype dtype, const GpuLimits& gpu);

// "split_gemm_sm90: tiles of 128 x 64, k over 4 blocks"
std::string split_gemm_text(std::size_t shape);

}  // namespace fusegate::kernels
