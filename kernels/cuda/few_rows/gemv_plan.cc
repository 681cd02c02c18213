#include "kernels/cuda/few_rows/gemv_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/contract/ceil_div.h"

namespace fusegate::kernels {
namespace {

void check(std::int64_t cols, std::int64_t k) {
  constexpr std::int64_t kMostK = 1 << 24, kMostCols = std::numeric_limits<int>::max() - (1 << 16);
  if (cols < 1 || cols > kMostCols || k < 8 || k > kMostK || k % 8 != 0) {
    throw std::invalid_argument(fmt::format(
        "gemv: cols is {}, k is {}; k must be a multiple of 8 up to {}", cols, k, kMostK));
  }
}

int warps(std::int64_t k, int ahead, int most) {
  const std::int64_t turns = ceil_div(k, std::int64_t{kGemvChunk} * ahead);
  return static_cast<int>(ceil_div(turns, ceil_div(turns, most)));
}

}  // namespace

std::vector<GemvPlan> gemv_plans(std::int64_t cols, std::int64_t k) {
  check(cols, k);
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
