#include "kernels/cuda/gemm/sm80/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"

namespace fusegate::kernels {
namespace {

constexpr double kMmaRate = 1024;              // multiply-adds a clock and SM
constexpr double kL2Rate = 5120;               // bytes a clock, for all SMs
constexpr double kSpecialRate = 16;            // special functions a clock and SM
constexpr std::size_t kReservedShared = 1024;  // CUDA's part of each block's shared memory

double tile_cycles(const GatedTile& tile, const GpuLimits& gpu, std::int64_t dim, bool alone) {
  const double products = tile.rows * 2.0 * tile.cols / kMmaRate;
  const double fill = tile.stage_rows() * 2.0 * gpu.sm_count / kL2Rate;
  const double epilogue = alone ? tile.rows * tile.cols * 2.0 / kSpecialRate : 0;
  return static_cast<double>(ceil_div(dim, tile.k_step) * tile.k_step) * (products + fill) +
         epilogue;
}

}  // namespace

int resident_blocks(const GatedTile& tile, const GpuLimits& gpu) {
  const std::size_t bytes = static_cast<std::size_t>(tile.shared_bytes()) + kReservedShared;
  return std::min(tile.blocks_per_sm, static_cast<int>(gpu.shared_bytes_per_sm / bytes));
}

bool fits(const GatedTile& tile, const GpuLimits& gpu) {
  return static_cast<std::size_t>(tile.shared_bytes()) <= gpu.shared_bytes_per_block &&
         resident_blocks(tile, gpu) >= 1;
}

GatedGemmPlan plan_gated_gemm_sm80(const GemmSize& size, const GpuLimits& gpu,
                                   std::size_t tile_index) {
  check_sizes(
      "gated_gemm_sm80",
      {{"rows", size.m}, {"hidden", size.n, kGemmAlignment}, {"dim", size.k, kGemmAlignment}});
  const GatedTile& tile = kGatedTiles.at(tile_index);
  if (!fits(tile, gpu)) {
    throw std::invalid_argument(
        fmt::format("gated_gemm_sm80: a tile takes {} bytes of shared memory, the GPU has {}",
                    tile.shared_bytes(), gpu.shared_bytes_per_block));
  }
  TileRaster raster = tiles_of("gated_gemm_sm80", size, tile.rows, tile.cols);
  const int tiles = raster.count(), resident = resident_blocks(tile, gpu);
  const int at_work = std::min(tiles, gpu.sm_count * resident);
  raster.group_rows = group_rows(size, {tile.rows, tile.cols}, at_work, gpu.l2_bytes);
  return {.tile = tile_index,
          .raster = raster,
          .blocks = at_work,
          .waves = static_cast<int>(ceil_div(tiles, at_work)),
          .cost = static_cast<double>(ceil_div(tiles, gpu.sm_count)) *
                  tile_cycles(tile, gpu, size.k, resident == 1)};
}

std::vector<GatedGemmPlan> gated_gemm_plans_sm80(const GemmSize& size, const GpuLimits& gpu) {
  constexpr double kWorthMeasuring = 1.5;
  std::vector<GatedGemmPlan> plans;
  for (std::size_t i = 0; i < kGatedTiles.size(); ++i) {
    if (fits(kGatedTiles[i], gpu)) plans.push_back(plan_gated_gemm_sm80(size, gpu, i));
  }
  if (plans.empty()) {
    throw std::invalid_argument(fmt::format(
        "gated_gemm_sm80: no tile fits in {} bytes of shared memory", gpu.shared_bytes_per_block));
  }
  return cheapest(std::move(plans), kWorthMeasuring);
}

std::string plan_text(const GatedGemmPlan& plan) {
  const GatedTile& tile = kGatedTiles.at(plan.tile);
  return fmt::format(
      "tile {} x ({} + {}) x {}, {} stages, {} bytes shared, {} blocks of {} threads, {} waves",
      tile.rows, tile.cols, tile.cols, tile.k_step, tile.stages, tile.shared_bytes(), plan.blocks,
      tile.threads(), plan.waves);
}

}  // namespace fusegate::kernels
