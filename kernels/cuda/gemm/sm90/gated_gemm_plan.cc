#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"

namespace fusegate::kernels {
namespace {

constexpr int kStep = 64;  // of k

}  // namespace

GatedGemmPlan plan_gated_gemm_sm90(const GemmSize& size, const GpuLimits& gpu, std::size_t tile) {
  check_sizes(
      "gated_gemm_sm90",
      {{"rows", size.m}, {"hidden", size.n, kGemmAlignment}, {"dim", size.k, kGemmAlignment}});
  const GatedTileSm90& shape = kGatedTilesSm90.at(tile);
  GatedGemmPlan plan;
  plan.tile = tile;
  const int rows = shape.rows * shape.cluster;
  plan.raster = tiles_of("gated_gemm_sm90", size, rows, shape.cols);
  plan.blocks = std::min(plan.raster.count(), std::max(1, gpu.sm_count / shape.cluster));
  plan.raster.group_rows =
      group_rows(size, {rows, shape.cols, shape.cluster > 1}, plan.blocks, gpu.l2_bytes);
  plan.waves = static_cast<int>(ceil_div(plan.raster.count(), plan.blocks));
  const std::int64_t stages = ceil_div(size.k, kStep);
  plan.cost = shape.start_us +
              plan.waves * (static_cast<double>(stages) * shape.stage_us + shape.epilogue_us);
  return plan;
}

std::vector<GatedGemmPlan> gated_gemm_plans_sm90(const GemmSize& size, const GpuLimits& gpu) {
  // For errors of the fitted costs, and since a kernel that is slower alone may leave SMs to the
  // next one (docs/evidence/fused-products.md).
  constexpr double kWorthMeasuring = 1.2;
  std::vector<GatedGemmPlan> plans;
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    plans.push_back(plan_gated_gemm_sm90(size, gpu, tile));
  }
  return cheapest(std::move(plans), kWorthMeasuring);
}

std::string plan_text_sm90(const GatedGemmPlan& plan) {
  const GatedTileSm90& shape = kGatedTilesSm90.at(plan.tile);
  const std::string blocks =
      shape.cluster == 1 ? fmt::format("{} blocks", plan.blocks)
                         : fmt::format("{} clusters of {} blocks", plan.blocks, shape.cluster);
  return fmt::format("tile {} x ({} + {}) x {}, {} stages{}, {}, {} waves", shape.rows, shape.cols,
                     shape.cols, kStep, shape.stages, shape.pingpong ? ", in turn" : "", blocks,
                     plan.waves);
}

}  // namespace fusegate::kernels
