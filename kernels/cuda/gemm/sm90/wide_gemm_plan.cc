#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {
TileRaster plan_wide_gemm_sm90(const GemmSize& size, const GpuLimits& gpu, Dtype dtype, int cols) {
  const auto in_16_bits = static_cast<std::int64_t>(2 / dtype_bytes(dtype));
  check_sizes(
      "wide_gemm_sm90",
      {{"m", size.m}, {"n", size.n, kGemmAlignment}, {"k", size.k, kGemmAlignment * in_16_bits}});
  const int cluster_cols = kWideGemmCluster * cols;
  TileRaster raster = tiles_of("wide_gemm_sm90", size, kWideGemmRows, cluster_cols);
  const int clusters = std::min(raster.count(), gpu.sm_count / kWideGemmCluster);
  // group_rows() takes h's columns: those of two weights that are half as long.
  raster.group_rows = group_rows({size.m, size.n / 2, size.k / in_16_bits},
                                 {kWideGemmRows, cluster_cols / 2, true}, clusters, gpu.l2_bytes);
  return raster;
}

bool is_wide_enough_sm90(const GemmSize& size, const GpuLimits& gpu) {
  const std::int64_t tiles = ceil_div(size.m, kWideGemmRows) * ceil_div(size.n, kWideGemmCols);
  return tiles * 4 >= gpu.sm_count * std::int64_t{3};
}

std::string wide_gemm_text(const TileRaster& raster, int cols) {
  return fmt::format("wide_gemm_sm90: {} x {} tiles of {} x {}", raster.row_tiles,
                     raster.col_tiles * kWideGemmCluster, kWideGemmRows, cols);
}

}  // namespace fusegate::kernels
