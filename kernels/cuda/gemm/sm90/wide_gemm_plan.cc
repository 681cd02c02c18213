#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {
namespace {

void check(const GemmSize& size) {
  for (const std::int64_t value : {size.m, size.n, size.k}) {
    if (value < 1 || value > std::numeric_limits<int>::max() - kWideGemmRows) {
      throw std::invalid_argument(
          fmt::format("wide_gemm_sm90: a size is {}, must be from 1 to 32 bits", value));
    }
  }
  if (size.n % 8 != 0 || size.k % 8 != 0) {
    throw std::invalid_argument(
        fmt::format("wide_gemm_sm90: n {} and k {} must be multiples of 8", size.n, size.k));
  }
}

}  // namespace

WideGemmPlan plan_wide_gemm_sm90(const GemmSize& size, const GpuLimits& gpu) {
  check(size);
  constexpr int kClusterCols = kWideGemmCluster * kWideGemmCols;
  const std::int64_t row_tiles = ceil_div(size.m, kWideGemmRows);
  const std::int64_t col_tiles = ceil_div(size.n, kClusterCols);
  if (row_tiles * col_tiles > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(
        fmt::format("wide_gemm_sm90: {} x {} makes more tiles than 32 bits count", size.m, size.n));
  }
  const int clusters = static_cast<int>(
      std::min<std::int64_t>(row_tiles * col_tiles, gpu.sm_count / kWideGemmCluster));
  return {
      {.row_tiles = static_cast<int>(row_tiles),
       .col_tiles = static_cast<int>(col_tiles),
       // group_rows() takes h's columns: those of two weights that are half as long.
       .group_rows = group_rows({size.m, size.n / 2, size.k},
                                {kWideGemmRows, kClusterCols / 2, true}, clusters, gpu.l2_bytes)}};
}

bool is_wide_enough_sm90(const GemmSize& size, const GpuLimits& gpu) {
  const std::int64_t tiles = ceil_div(size.m, kWideGemmRows) * ceil_div(size.n, kWideGemmCols);
  return tiles * 4 >= gpu.sm_count * std::int64_t{3};
}

std::string wide_gemm_text(const WideGemmPlan& plan) {
  return fmt::format("wide_gemm_sm90: {} x {} tiles of {} x {}", plan.raster.row_tiles,
                     plan.raster.col_tiles * kWideGemmCluster, kWideGemmRows, kWideGemmCols);
}

}  // namespace fusegate::kernels
