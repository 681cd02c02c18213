#include "kernels/cuda/gemm/sm80/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "kernels/contract/ceil_div.h"

namespace fusegate::kernels {
namespace {

constexpr double kMmaRate = 1024;              // multiply-adds a clock and SM
constexpr double kL2Rate = 5120;               // bytes a clock, for all SMs
constexpr double kSpecialRate = 16;            // special functions a clock and SM
constexpr std::size_t kReservedShared = 1024;  // CUDA's part of each block's shared memory

constexpr std::int64_t kAlignment = 8;  // elements of 16 bytes, which cp.async and stores move

void check(const GatedGemmSize& size) {
  // Room for a tile and a step beyond the end, so that positions never overflow an int.
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() - 1024;
  for (const auto& [name, value, multiple] : {std::tuple("rows", size.rows, std::int64_t{1}),
                                              {"hidden", size.hidden, kAlignment},
                                              {"dim", size.dim, kAlignment}}) {
    if (value < 1 || value > kMost || value % multiple != 0) {
      throw std::invalid_argument(
          fmt::format("gated_gemm_sm80: {} must be a multiple of {} between 1 and {}, but is {}",
                      name, multiple, kMost, value));
    }
  }
}

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

GatedGemmPlan plan_gated_gemm_sm80(const GatedGemmSize& size, const GpuLimits& gpu,
                                   std::size_t tile_index) {
  check(size);
  const GatedTile& tile = kGatedTiles.at(tile_index);
  if (!fits(tile, gpu)) {
    throw std::invalid_argument(
        fmt::format("gated_gemm_sm80: a tile takes {} bytes of shared memory, the GPU has {}",
                    tile.shared_bytes(), gpu.shared_bytes_per_block));
  }
  const std::int64_t row_tiles = ceil_div(size.rows, tile.rows);
  const std::int64_t col_tiles = ceil_div(size.hidden, tile.cols);
  const std::int64_t tiles = row_tiles * col_tiles;
  if (tiles > std::numeric_limits<int>::max() / 2) {
    throw std::invalid_argument(
        fmt::format("gated_gemm_sm80: {} rows x {} hidden make {} tiles, more than 32 bits count",
                    size.rows, size.hidden, tiles));
  }
  const int resident = resident_blocks(tile, gpu);
  const int at_work = static_cast<int>(std::min<std::int64_t>(tiles, gpu.sm_count * resident));
  return {.tile = tile_index,
          .raster = {.row_tiles = static_cast<int>(row_tiles),
                     .col_tiles = static_cast<int>(col_tiles),
                     .group_rows = group_rows(size, {tile.rows, tile.cols}, at_work, gpu.l2_bytes)},
          .blocks = at_work,
          .waves = static_cast<int>(ceil_div(tiles, at_work)),
          .cost = static_cast<double>(ceil_div(tiles, gpu.sm_count)) *
                  tile_cycles(tile, gpu, size.dim, resident == 1)};
}

std::vector<GatedGemmPlan> gated_gemm_plans_sm80(const GatedGemmSize& size, const GpuLimits& gpu) {
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
