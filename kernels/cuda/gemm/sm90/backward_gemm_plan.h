// How backward_gemm_sm90 cuts dh [m, n] into tiles. Plain C++, tested without a GPU.
#pragma once

#include <string>

#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gemm_size.h"
#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels {

inline constexpr int kBackwardGemmRows = 128, kBackwardGemmCols = 192;  // of a tile
inline constexpr int kBackwardGemmStages = 3;   // of 64 columns of dy and rows of w
inline constexpr int kBackwardGemmCluster = 2;  // blocks, whose tiles lie one above the other

// Of a cluster's tiles, twice as high. Throws std::invalid_argument for sizes that check_sizes or
// tiles_of refuses.
TileRaster plan_backward_gemm_sm90(const GemmSize& size, const GpuLimits& gpu);

// "backward_gemm_sm90: 64 x 16 tiles of 128 x 192"
std::string backward_gemm_text(const TileRaster& raster);

}  // namespace fusegate::kernels
