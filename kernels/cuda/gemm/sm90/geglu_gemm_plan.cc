#include "kernels/cuda/gemm/sm90/geglu_gemm_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace fusegate::kernels {
namespace {

constexpr int kStep = 64;  // of dim

int rounded_up_quotient(int a, int b) { return (a + b - 1) / b; }

void check(const GegluGemmSize& size) {
  for (const std::int64_t value : {size.rows, size.hidden, size.dim}) {
    if (value < 1 || value > std::numeric_limits<int>::max() - kGegluSm90Rows * 2) {
      throw std::invalid_argument(fmt::format("geglu_gemm_sm90: cannot take a size of {}", value));
    }
  }
  if (size.hidden % 8 != 0 || size.dim % 8 != 0) {
    throw std::invalid_argument(fmt::format(
        "geglu_gemm_sm90: hidden {} and dim {} must be multiples of 8", size.hidden, size.dim));
  }
}

}  // namespace

GegluGemmPlan plan_geglu_gemm_sm90(const GegluGemmSize& size, int sm_count, std::size_t tile) {
  check(size);
  // Tiles that share rows of x and of the weights while they are worked on: about as many down as
  // half of an H200's SMs take across.
  constexpr int kGroupRows = 16;
  const GegluTileSm90& shape = kGegluTilesSm90.at(tile);
  GegluGemmPlan plan;
  plan.tile = tile;
  plan.raster = {
      .row_tiles = rounded_up_quotient(static_cast<int>(size.rows), kGegluSm90Rows * shape.cluster),
      .col_tiles = rounded_up_quotient(static_cast<int>(size.hidden), shape.cols),
      .group_rows = kGroupRows / shape.cluster};
  if (std::int64_t{plan.raster.row_tiles} * plan.raster.col_tiles >
      std::numeric_limits<int>::max()) {
    throw std::invalid_argument(
        fmt::format("geglu_gemm_sm90: {} x {} makes too many tiles", size.rows, size.hidden));
  }
  plan.blocks = std::min(plan.raster.count(), std::max(1, sm_count / shape.cluster));
  plan.waves = rounded_up_quotient(plan.raster.count(), plan.blocks);
  const int stages = rounded_up_quotient(static_cast<int>(size.dim), kStep);
  plan.cost = shape.start_us + plan.waves * (stages * shape.stage_us + shape.epilogue_us);
  return plan;
}

GegluGemmPlan plan_geglu_gemm_sm90(const GegluGemmSize& size, int sm_count) {
  return geglu_gemm_plans_sm90(size, sm_count).front();
}

std::vector<GegluGemmPlan> geglu_gemm_plans_sm90(const GegluGemmSize& size, int sm_count) {
  constexpr double kWorthMeasuring = 1.1;  // what the fitted costs may be off by
  std::vector<GegluGemmPlan> plans;
  for (std::size_t tile = 0; tile < kGegluTilesSm90.size(); ++tile) {
    plans.push_back(plan_geglu_gemm_sm90(size, sm_count, tile));
  }
  std::ranges::stable_sort(plans, {}, &GegluGemmPlan::cost);
  std::erase_if(plans, [most = plans.front().cost * kWorthMeasuring](const GegluGemmPlan& plan) {
    return plan.cost > most;
  });
  return plans;
}

std::string plan_text_sm90(const GegluGemmPlan& plan) {
  const GegluTileSm90& shape = kGegluTilesSm90.at(plan.tile);
  const std::string blocks =
      shape.cluster == 1 ? fmt::format("{} blocks", plan.blocks)
                         : fmt::format("{} clusters of {} blocks", plan.blocks, shape.cluster);
  return fmt::format("tile {} x ({} + {}) x {}, {} stages, {}, {} waves", kGegluSm90Rows,
                     shape.cols, shape.cols, kStep, shape.stages, blocks, plan.waves);
}

}  // namespace fusegate::kernels
