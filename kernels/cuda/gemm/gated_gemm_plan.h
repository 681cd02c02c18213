// How a GEMM with a gated unit as its epilogue is cut into tiles, whatever the architecture:
// h [rows, hidden] = activation(x w_gate^T) * (x w_up^T), x [rows, dim].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels {

// Of dim and hidden: rows of 16-bit elements are read and written 16 bytes at a time.
inline constexpr std::int64_t kGatedGemmAlignment = 8;

struct GatedGemmSize {
  std::int64_t rows = 0;
  std::int64_t hidden = 0;
  std::int64_t dim = 0;
};

struct GatedGemmPlan {
  std::size_t tile = 0;  // of the architecture's tile shapes
  TileRaster raster;
  int blocks = 0;   // block (or cluster of blocks) b works on tiles b, b + blocks, ...
  int waves = 0;    // tiles of the block that has most
  double cost = 0;  // as the architecture's rule has it
};

// How many tiles down a group has (TileRaster::group_rows), at_work of them being worked on at a
// time. The rows of operands that these read, r rows of tiles of x and at_work / r columns of both
// weights, are fewest at r = sqrt(at_work x 2 cols / rows): as many of x as of the weights. Then
// come the group's next columns, which read the same rows of x. Where r rows of tiles of x are too
// much to stay in the L2 that long, so few that do stay are better, as long as these are more than
// r / 2: they come from memory once a group, and of the weights less than twice as many are read.
// x gets half of the L2. The weights pass through the rest; and an A100's L2, as an H100's, has two
// sides, which both hold what SMs of both sides read (NVIDIA A100 white paper).
inline int group_rows(int at_work, int tile_rows, int tile_cols, std::int64_t row_tiles,
                      std::int64_t dim, std::size_t l2_bytes) {
  const double square = std::sqrt(at_work * 2.0 * tile_cols / tile_rows);
  const double x_bytes = 2.0 * tile_rows * static_cast<double>(dim);  // of a row of tiles
  const double that_stay = std::floor(static_cast<double>(l2_bytes) / 2 / x_bytes);
  const double best = that_stay > square / 2 ? std::min(square, that_stay) : square;
  return static_cast<int>(std::clamp<std::int64_t>(std::llround(best), 1, row_tiles));
}

// Cheapest first, without those that cost more than so many times the cheapest.
inline std::vector<GatedGemmPlan> cheapest(std::vector<GatedGemmPlan> plans, double times) {
  std::ranges::stable_sort(plans, {}, &GatedGemmPlan::cost);
  std::erase_if(plans, [most = plans.front().cost * times](const GatedGemmPlan& plan) {
    return plan.cost > most;
  });
  return plans;
}

}  // namespace fusegate::kernels
