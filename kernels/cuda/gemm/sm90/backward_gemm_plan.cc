#include "kernels/cuda/gemm/sm90/backward_gemm_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/device/check_sizes.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {

BackwardGemmPlan plan_backward_gemm_sm90(const GemmSize& size, const GpuLimits& gpu) {
  constexpr const char* kName = "backward_gemm_sm90";
  check_sizes(
      kName,
      {{"rows", size.m}, {"hidden", size.n, kGemmAlignment}, {"dim", size.k, kGemmAlignment}});
  const int rows = kBackwardGemmRows * kBackwardGemmCluster;
  TileRaster raster = tiles_of(kName, size, rows, kBackwardGemmCols);
  const int clusters = std::min(raster.count(), gpu.sm_count / kBackwardGemmCluster);
  // group_rows() takes h's columns: those of two weights that are half as long.
  raster.group_rows = group_rows({size.m, size.n / 2, size.k}, {rows, kBackwardGemmCols / 2, true},
                                 clusters, gpu.l2_bytes);
  return {.raster = raster, .ring = size.k < kBackwardLongSums ? 0u : 1u};
}

std::string backward_gemm_text(const BackwardGemmPlan& plan) {
  return fmt::format("backward_gemm_sm90: {} x {} tiles of {} x {}, {} stages",
                     plan.raster.row_tiles * kBackwardGemmCluster, plan.raster.col_tiles,
                     kBackwardGemmRows, kBackwardGemmCols, kBackwardRings[plan.ring].stages);
}

}  // namespace fusegate::kernels
