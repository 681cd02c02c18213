// How wide_gemm_sm90 cuts out [m, n] into tiles, and wide_gated_sm90 h, and where they are worth
// measuring. Plain C++, tested without a GPU.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gemm_size.h"
#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels {

inline constexpr int kWideGemmRows = 256, kWideGemmCols = 192;  // of a tile
inline constexpr int kWideGemmStages = 3;                       // of 64 columns of x and of w
// Narrower ones: where a stage's sums of e4m3 products are added up in fp32, beside the tile's; and
// where more of them leave fewer SMs idle (ranks/overlapped_plan.h).
inline constexpr int kNarrowGemmCols = 128, kNarrowGemmStages = 4;
inline constexpr int kWideGemmCluster = 2;  // blocks, whose tiles lie side by side

// dtype: of x and w; cols: of a tile. Of a cluster's tiles, twice as wide. Throws
// std::invalid_argument for sizes that check_sizes or tiles_of refuses.
TileRaster plan_wide_gemm_sm90(const GemmSize& size, const GpuLimits& gpu,
                               Dtype dtype = Dtype::kBf16, int cols = kWideGemmCols);

// Whether it is worth measuring: there are tiles for three quarters of the SMs. With fewer, smaller
// tiles are faster.
bool is_wide_enough_sm90(const GemmSize& size, const GpuLimits& gpu);

// Of h [m, n], in tiles half as wide: their other columns are of u.
inline constexpr int kWideGatedCols = kWideGemmCols / 2;
TileRaster plan_wide_gated_sm90(const GemmSize& size, const GpuLimits& gpu);

// Whether it is worth measuring: nothing overlaps a tile's epilogue, so it needs long sums; and
// SMs that have a tile less than others must not idle for more than a sixth of the time.
bool is_wide_gated_worth(const GemmSize& size, const GpuLimits& gpu);

// "tile 256 x (96 + 96) x 64, 3 stages, 66 clusters of 2 blocks side by side, 4 waves"
std::string wide_gated_text(const TileRaster& raster, const GpuLimits& gpu);

// "wide_gemm_sm90: 32 x 4 tiles of 256 x 192"
std::string wide_gemm_text(const TileRaster& raster, int cols = kWideGemmCols);

}  // namespace fusegate::kernels
