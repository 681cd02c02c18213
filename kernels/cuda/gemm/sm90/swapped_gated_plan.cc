#include "kernels/cuda/gemm/sm90/swapped_gated_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"

namespace fusegate::kernels {
namespace {

constexpr int kStep = 64;  // of k
constexpr std::int64_t kFewestRows = 65, kMostRows = 1024;

}  // namespace

GatedGemmPlan plan_swapped_gated_sm90(const GemmSize& size, const GpuLimits& gpu,
                                      std::size_t tile) {
  check_sizes(
      "swapped_gated_sm90",
      {{"rows", size.m}, {"hidden", size.n, kGemmAlignment}, {"dim", size.k, kGemmAlignment}});
  const SwappedTileSm90& shape = kSwappedTilesSm90.at(tile);
  GatedGemmPlan plan;
  plan.tile = tile;
  plan.raster =
      tiles_of("swapped_gated_sm90", size, shape.rows, shape.cols * shape.cluster);
  plan.raster.group_rows = plan.raster.row_tiles;  // which read the same weights
  plan.blocks = std::min(plan.raster.count(), std::max(1, gpu.sm_count / shape.cluster));
  plan.waves = static_cast<int>(ceil_div(plan.raster.count(), plan.blocks));
  plan.cost = static_cast<double>(plan.waves) * shape.rows * shape.cols;
  return plan;
}

std::vector<GatedGemmPlan> swapped_gated_plans_sm90(const GemmSize& size, const GpuLimits& gpu) {
  constexpr double kWorthMeasuring = 1.5;
  if (size.m < kFewestRows || size.m > kMostRows) return {};
  std::vector<GatedGemmPlan> plans;
  for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
    plans.push_back(plan_swapped_gated_sm90(size, gpu, tile));
  }
  return cheapest(std::move(plans), kWorthMeasuring);
}

std::string swapped_text_sm90(const GatedGemmPlan& plan) {
  const SwappedTileSm90& shape = kSwappedTilesSm90.at(plan.tile);
  return fmt::format("swapped, tile {} x ({} + {}) x {}, {} stages, {} clusters of {} blocks, {} waves",
                     shape.rows, shape.cols, shape.cols, kStep, shape.stages, plan.blocks,
                     shape.cluster, plan.waves);
}

std::vector<std::size_t> swapped_split_shapes(const GemmSize& size, const GpuLimits& gpu) {
  std::vector<std::size_t> fitting;
  if (size.m < kFewestRows) return fitting;
  for (std::size_t i = 0; i < kSwappedSplitShapes.size(); ++i) {
    const auto& [rows, splits, stages] = kSwappedSplitShapes[i];
    const std::int64_t blocks =
        ceil_div(size.m, rows) * ceil_div(size.n, kSwappedSplitColumns) * splits;
    const bool has_parts = ceil_div(size.k, kStep) >= splits;
    if (blocks <= gpu.sm_count && blocks * 4 >= gpu.sm_count * 3 && has_parts) fitting.push_back(i);
  }
  return fitting;
}

std::string swapped_split_text(std::size_t shape) {
  const SwappedSplitShape& of = kSwappedSplitShapes.at(shape);
  return fmt::format("swapped_split_sm90: tiles of {} x {}, k over {} blocks", of.rows,
                     kSwappedSplitColumns, of.splits);
}

}  // namespace fusegate::kernels
