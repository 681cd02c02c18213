#include "kernels/cuda/few_rows/gemv_plan.h"

#include <fmt/format.h>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"

namespace fusegate::kernels {
namespace {

int warps(std::int64_t k, int ahead, int most) {
  const std::int64_t turns = ceil_div(k, std::int64_t{kGemvChunk} * ahead);
  return static_cast<int>(ceil_div(turns, ceil_div(turns, most)));
}

}  // namespace

std::vector<GemvPlan> gemv_plans(std::int64_t cols, std::int64_t k) {
  check_sizes("gemv", {{"cols", cols}, {"k", k, 8, 1 << 24}});
  std::vector<GemvPlan> plans;
  for (std::size_t shape = 0; shape < kGemvShapes.size(); ++shape) {
    const auto [cols_per_block, ahead] = kGemvShapes[shape];
    const int blocks = static_cast<int>(ceil_div(cols, cols_per_block));
    const int few = warps(k, ahead, kMostGemvWarps / 2), many = warps(k, ahead, kMostGemvWarps);
    plans.push_back({shape, blocks, few});
    if (many != few) plans.push_back({shape, blocks, many});
  }
  return plans;
}

std::string plan_text(const GemvPlan& plan) {
  const GemvShape& shape = kGemvShapes.at(plan.shape);
  return fmt::format("gemv: {} blocks of {} warps, {} columns each, {} chunk{} ahead", plan.blocks,
                     plan.warps, shape.cols, shape.ahead, shape.ahead == 1 ? "" : "s");
}

}  // namespace fusegate::kernels
