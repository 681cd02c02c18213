#include "kernels/cuda/few_rows/few_rows_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"

namespace fusegate::kernels {
namespace {

constexpr double kSmRate = 64;    // bytes a clock
constexpr double kL2Rate = 5120;  // bytes a clock
constexpr double kElementBytes = 2;
constexpr double kWorthALargerShape = 0.95;
// Shared by the blocks on an SM. With 8 loads of 512 bytes per warp in flight these are 96 KiB; an
// H200's 4.8 TB/s need 36 at a latency of a microsecond.
constexpr int kWarpsPerSm = 24;
constexpr int kLeastWarps = 8;  // of a block, however many share an SM

void check(const FewRowsSize& size) {
  // Of k, a thread loads 16 bytes at once, and the kernel's offsets within its rows are 32 bits.
  check_sizes(
      "few_rows",
      {{"rows", size.rows, 1, kMostFewRows}, {"cols", size.cols}, {"k", size.k, 8, 1 << 24}});
}

double cost(const FewRowsSize& size, const GpuLimits& gpu, std::int64_t cols_per_block) {
  const std::int64_t blocks = ceil_div(size.cols, cols_per_block);
  const double bytes = static_cast<double>(size.weights * cols_per_block + size.rows) *
                       static_cast<double>(size.k) * kElementBytes;
  return static_cast<double>(ceil_div(blocks, gpu.sm_count)) * bytes / kSmRate +
         static_cast<double>(blocks) * bytes / kL2Rate;
}

// As many as have something to load from the start and leave other blocks room; of these the fewest
// that need the same number of rounds.
int warps(const FewRowsSize& size, const FewRowsShape& shape, int blocks_per_sm) {
  const std::int64_t most =
      std::min(std::max(kWarpsPerSm / blocks_per_sm, kLeastWarps), shape.most_warps);
  const std::int64_t turns = ceil_div(size.k, kFewRowsChunk * shape.depth);
  return static_cast<int>(ceil_div(turns, ceil_div(turns, most)));
}

FewRowsPlan plan_with(const FewRowsSize& size, const GpuLimits& gpu, std::size_t shape, int cols) {
  const std::int64_t blocks = ceil_div(size.cols, cols);
  const std::int64_t blocks_per_sm = std::min<std::int64_t>(ceil_div(blocks, gpu.sm_count), 64);
  return {.shape = shape,
          .cols_per_block = cols,
          .blocks = static_cast<int>(blocks),
          .warps = warps(size, kFewRowsShapes[shape], static_cast<int>(blocks_per_sm)),
          .cost = cost(size, gpu, cols)};
}

}  // namespace

bool fits(const FewRowsShape& shape, const FewRowsSize& size) {
  return size.rows <= shape.x_rows() && shape.w_sets % size.weights == 0;
}

FewRowsPlan plan_few_rows(const FewRowsSize& size, const GpuLimits& gpu, std::size_t shape_index) {
  check(size);
  const FewRowsShape& shape = kFewRowsShapes.at(shape_index);
  if (!fits(shape, size)) {
    throw std::invalid_argument(
        fmt::format("few_rows: a shape for {} rows and {} sets of weights does not fit {} rows and "
                    "{} weights",
                    shape.x_rows(), shape.w_sets, size.rows, size.weights));
  }
  FewRowsPlan best;
  for (int cols = shape.w_rows() / size.weights; cols > 0; --cols) {
    const FewRowsPlan plan = plan_with(size, gpu, shape_index, cols);
    if (best.cols_per_block == 0 || plan.cost < best.cost) best = plan;
  }
  return best;
}

FewRowsPlan plan_few_rows(const FewRowsSize& size, const GpuLimits& gpu) {
  check(size);
  std::optional<FewRowsPlan> best;
  for (std::size_t i = 0; i < kFewRowsShapes.size(); ++i) {
    const FewRowsShape& shape = kFewRowsShapes[i];
    // More rows than needed would multiply zeros.
    if (!fits(shape, size) || (best && shape.x_tiles > kFewRowsShapes[best->shape].x_tiles)) {
      continue;
    }
    const FewRowsPlan plan = plan_few_rows(size, gpu, i);
    if (!best || plan.cost < kWorthALargerShape * best->cost) best = plan;
  }
  return best.value();
}

std::vector<FewRowsPlan> few_rows_plans(const FewRowsSize& size, const GpuLimits& gpu) {
  std::vector<FewRowsPlan> plans{plan_few_rows(size, gpu)};
  const auto add = [&](const FewRowsPlan& plan) {
    if (std::ranges::find(plans, plan) == plans.end()) plans.push_back(plan);
  };
  for (std::size_t i = 0; i < kFewRowsShapes.size(); ++i) {
    const FewRowsShape& shape = kFewRowsShapes[i];
    if (!fits(shape, size) || shape.x_tiles != kFewRowsShapes[plans.front().shape].x_tiles)
      continue;
    add(plan_few_rows(size, gpu, i));
    add(plan_with(size, gpu, i, shape.w_rows() / size.weights));
  }
  return plans;
}

std::string plan_text(const FewRowsPlan& plan) {
  const FewRowsShape& shape = kFewRowsShapes.at(plan.shape);
  return fmt::format(
      "few_rows: {} blocks of {} warps, {} columns each, x in {} x 8 rows, weights in {} x 8, {} "
      "chunks "
      "ahead",
      plan.blocks, plan.warps, plan.cols_per_block, shape.x_tiles, shape.w_sets, shape.depth);
}

}  // namespace fusegate::kernels
