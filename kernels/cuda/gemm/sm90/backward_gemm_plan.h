// How backward_gemm_sm90 cuts dh [m, n] into tiles. Plain C++, tested without a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gemm_size.h"
#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels {

inline constexpr int kBackwardGemmRows = 128, kBackwardGemmCols = 192;  // of a tile
inline constexpr int kBackwardGemmCluster = 2;  // blocks, whose tiles lie one above the other

// What a block's shared memory is for: more stages that are loaded ahead, or larger parts of g and
// u, with fewer waits between them.
struct BackwardRing {
  int stages = 0;        // of 64 columns of dy and rows of w
  int part_columns = 0;  // of dh, and 64 rows
};
inline constexpr std::array<BackwardRing, 2> kBackwardRings{
    {{.stages = 3, .part_columns = 64}, {.stages = 4, .part_columns = 32}}};
// From so long sums on the second. With 768 the first is faster, with 4096 the second
// (docs/evidence/training.md); in between, sums come to take as long as the epilogue beside them.
inline constexpr std::int64_t kBackwardLongSums = 1536;

struct BackwardGemmPlan {
  TileRaster raster;     // of a cluster's tiles, twice as high
  std::size_t ring = 0;  // of kBackwardRings
};

// Throws std::invalid_argument for sizes that check_sizes or tiles_of refuses.
BackwardGemmPlan plan_backward_gemm_sm90(const GemmSize& size, const GpuLimits& gpu);

// "backward_gemm_sm90: 64 x 16 tiles of 128 x 192, 3 stages"
std::string backward_gemm_text(const BackwardGemmPlan& plan);

}  // namespace fusegate::kernels
