#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {
namespace {

int clusters_at_work(const TileRaster& raster, const GpuLimits& gpu) {
  return std::min(raster.count(), gpu.sm_count / kWideGemmCluster);
}
std::int64_t waves_of(const TileRaster& raster, const GpuLimits& gpu) {
  return ceil_div(raster.count(), clusters_at_work(raster, gpu));
}

}  // namespace

TileRaster plan_wide_gemm_sm90(const GemmSize& size, const GpuLimits& gpu, Dtype dtype, int cols) {
  const auto in_16_bits = static_cast<std::int64_t>(2 / dtype_bytes(dtype));
  check_sizes(
      "wide_gemm_sm90",
      {{"m", size.m}, {"n", size.n, kGemmAlignment}, {"k", size.k, kGemmAlignment * in_16_bits}});
  const int cluster_cols = kWideGemmCluster * cols;
  TileRaster raster = tiles_of("wide_gemm_sm90", size, kWideGemmRows, cluster_cols);
  const int clusters = clusters_at_work(raster, gpu);
  // group_rows() takes h's columns: those of two weights that are half as long.
  raster.group_rows = group_rows({size.m, size.n / 2, size.k / in_16_bits},
                                 {kWideGemmRows, cluster_cols / 2, true}, clusters, gpu.l2_bytes);
  return raster;
}

bool is_wide_enough_sm90(const GemmSize& size, const GpuLimits& gpu) {
  const std::int64_t tiles = ceil_div(size.m, kWideGemmRows) * ceil_div(size.n, kWideGemmCols);
  return tiles * 4 >= gpu.sm_count * std::int64_t{3};
}

TileRaster plan_wide_gated_sm90(const GemmSize& size, const GpuLimits& gpu) {
  check_sizes(
      "wide_gated_sm90",
      {{"rows", size.m}, {"hidden", size.n, kGemmAlignment}, {"dim", size.k, kGemmAlignment}});
  constexpr int kClusterCols = kWideGemmCluster * kWideGatedCols;
  TileRaster raster = tiles_of("wide_gated_sm90", size, kWideGemmRows, kClusterCols);
  raster.group_rows = group_rows(size, {kWideGemmRows, kClusterCols, true},
                                 clusters_at_work(raster, gpu), gpu.l2_bytes);
  return raster;
}

bool is_wide_gated_worth(const GemmSize& size, const GpuLimits& gpu) {
  constexpr std::int64_t kShortestSum = 2048;
  if (size.k < kShortestSum) return false;
  const std::int64_t tiles = ceil_div(size.m, kWideGemmRows) * ceil_div(size.n, kWideGatedCols);
  const TileRaster raster = plan_wide_gated_sm90(size, gpu);
  return tiles * 6 >= waves_of(raster, gpu) * gpu.sm_count * 5;
}

std::string wide_gated_text(const TileRaster& raster, const GpuLimits& gpu) {
  return fmt::format(
      "tile {} x ({} + {}) x 64, {} stages, {} clusters of {} blocks side by side, {} waves",
      kWideGemmRows, kWideGatedCols, kWideGatedCols, kWideGemmStages, clusters_at_work(raster, gpu),
      kWideGemmCluster, waves_of(raster, gpu));
}

std::string wide_gemm_text(const TileRaster& raster, int cols) {
  return fmt::format("wide_gemm_sm90: {} x {} tiles of {} x {}", raster.row_tiles,
                     raster.col_tiles * kWideGemmCluster, kWideGemmRows, cols);
}

}  // namespace fusegate::kernels
