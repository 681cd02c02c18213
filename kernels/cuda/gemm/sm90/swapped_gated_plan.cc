#include "kernels/cuda/gemm/sm90/swapped_gated_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"

namespace fusegate::kernels {
namespace {

constexpr int kStep = 64;  // of k
// Below, weights are streamed (few_rows), or taken in tiles of 64 rows of x; above, tiles of 128
// rows of x are as fast or faster: with 1000 rows of 1152 x 6912 and 2304 x 9216 by 13 and 15 %
// than stream-K (an H200).
constexpr std::int64_t kFewestRows = 17, kMostRows = 512;
// What a block's writing and reading of sums takes, as a share of a tile: by their bytes 2 us of 39
// (256 x 64 of 3584: 128 KiB each way, at 130 GB/s an SM). Calls of 256 rows took 0.2 to 0.36 of a
// tile longer than their shares (an H200), but with 0.36 one that gains 2 % would not be measured.
constexpr double kGivingSums = 0.05;

// With fewer tiles than clusters three may share one. 32 bits count the steps. A cluster works on
// the tiles of a column one after the other, and each may read the weights from memory again: with
// so many rows of x a tile, multiplying takes longer than reading (800 TFLOP/s over 4.5 TB/s).
bool may_stream_k(const GatedGemmPlan& plan, const GemmSize& size) {
  constexpr std::int64_t kRowsPerReading = 180;
  const std::int64_t steps = plan.raster.count() * ceil_div(size.k, kStep);
  return plan.raster.count() % plan.blocks != 0 && plan.waves > 1 &&
         (plan.raster.row_tiles == 1 || size.m >= kRowsPerReading * plan.raster.row_tiles) &&
         steps <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

GatedGemmPlan plan_swapped_gated_sm90(const GemmSize& size, const GpuLimits& gpu, std::size_t tile,
                                      bool streams_k) {
  check_sizes(
      "swapped_gated_sm90",
      {{"rows", size.m}, {"hidden", size.n, kGemmAlignment}, {"dim", size.k, kGemmAlignment}});
  const SwappedTileSm90& shape = kSwappedTilesSm90.at(tile);
  GatedGemmPlan plan;
  plan.tile = tile;
  const int above = shape.shares_weights ? shape.cluster : 1;
  plan.raster =
      tiles_of("swapped_gated_sm90", size, shape.rows * above, shape.cols * shape.cluster / above);
  plan.raster.group_rows = plan.raster.row_tiles;  // which read the same weights
  plan.blocks = std::min(plan.raster.count(), std::max(1, gpu.sm_count / shape.cluster));
  plan.waves = static_cast<int>(ceil_div(plan.raster.count(), plan.blocks));
  plan.streams_k = streams_k && may_stream_k(plan, size);
  const double tiles = plan.streams_k
                           ? static_cast<double>(plan.raster.count()) / plan.blocks + kGivingSums
                           : plan.waves;
  plan.cost = tiles * shape.rows * shape.cols;
  return plan;
}

std::vector<GatedGemmPlan> swapped_gated_plans_sm90(const GemmSize& size, const GpuLimits& gpu) {
  constexpr double kWorthMeasuring = 1.5;
  if (size.m < kFewestRows || size.m > kMostRows) return {};
  std::vector<GatedGemmPlan> plans;
  for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
    // Several would read the weights more often than one of 64 rows.
    const int rows = kSwappedTilesSm90[tile].rows;
    if (rows < 64 && rows < size.m) continue;
    const GatedGemmPlan plan = plan_swapped_gated_sm90(size, gpu, tile);
    plans.push_back(plan);
    const GatedGemmPlan streamed = plan_swapped_gated_sm90(size, gpu, tile, true);
    if (streamed.streams_k && streamed.cost < plan.cost) plans.push_back(streamed);
  }
  return cheapest(std::move(plans), kWorthMeasuring);
}

std::string swapped_text_sm90(const GatedGemmPlan& plan) {
  const SwappedTileSm90& shape = kSwappedTilesSm90.at(plan.tile);
  return fmt::format("swapped, tile {} x ({} + {}) x {}, {} stages, {} clusters of {} blocks{}, {}",
                     shape.rows, shape.cols, shape.cols, kStep, shape.stages, plan.blocks,
                     shape.cluster, shape.shares_weights ? " one above the other" : "",
                     plan.streams_k ? "stream-K" : fmt::format("{} waves", plan.waves));
}

}  // namespace fusegate::kernels
