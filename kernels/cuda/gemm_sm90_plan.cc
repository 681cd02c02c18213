#include "kernels/cuda/gemm_sm90_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace fusegate {
namespace {

constexpr int kStep = 64;  // of k

int rounded_up_quotient(int a, int b) { return (a + b - 1) / b; }

void check(const GemmSize& size) {
  for (const std::int64_t value : {size.rows, size.cols, size.k}) {
    if (value < 1 || value > std::numeric_limits<int>::max() - kGemmSm90Rows * 2) {
      throw std::invalid_argument(fmt::format("gemm_sm90: cannot take a size of {}", value));
    }
  }
  if (size.cols % 8 != 0 || size.k % 8 != 0) {
    throw std::invalid_argument(
        fmt::format("gemm_sm90: cols {} and k {} must be multiples of 8", size.cols, size.k));
  }
}

}  // namespace

GemmPlan plan_gemm_sm90(const GemmSize& size, GemmEpilogue epilogue, int sm_count,
                        std::size_t tile) {
  check(size);
  // Tiles that share rows of x and of the weights while they are worked on: about as many down as
  // half of an H200's SMs take across.
  constexpr int kGroupRows = 16;
  const GemmTileSm90& shape = kGemmTilesSm90.at(tile);
  GemmPlan plan;
  plan.tile = tile;
  plan.raster = {
      .row_tiles = rounded_up_quotient(static_cast<int>(size.rows), kGemmSm90Rows * shape.cluster),
      .col_tiles = rounded_up_quotient(static_cast<int>(size.cols), shape.cols(epilogue)),
      .group_rows = kGroupRows / shape.cluster};
  plan.blocks = std::min(plan.raster.count(), std::max(1, sm_count / shape.cluster));
  plan.waves = rounded_up_quotient(plan.raster.count(), plan.blocks);
  const int stages = rounded_up_quotient(static_cast<int>(size.k), kStep);
  plan.cost = shape.start_us + plan.waves * (stages * shape.stage_us + shape.epilogue_us);
  return plan;
}

GemmPlan plan_gemm_sm90(const GemmSize& size, GemmEpilogue epilogue, int sm_count) {
  GemmPlan best = plan_gemm_sm90(size, epilogue, sm_count, 0);
  for (std::size_t tile = 1; tile < kGemmTilesSm90.size(); ++tile) {
    const GemmPlan plan = plan_gemm_sm90(size, epilogue, sm_count, tile);
    if (plan.cost < best.cost) best = plan;
  }
  return best;
}

std::string plan_text_sm90(const GemmPlan& plan) {
  const GemmTileSm90& shape = kGemmTilesSm90.at(plan.tile);
  const std::string blocks =
      shape.cluster == 1 ? fmt::format("{} blocks", plan.blocks)
                         : fmt::format("{} clusters of {} blocks", plan.blocks, shape.cluster);
  return fmt::format("tile {} x ({} + {}) x {}, {} stages, {}, {} waves", kGemmSm90Rows, shape.half,
                     shape.half, kStep, shape.stages, blocks, plan.waves);
}

}  // namespace fusegate
