// How a GEMM, with a gated unit as its epilogue or without, is cut into tiles, whatever the
// architecture.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/gemm/gemm_size.h"
#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels {

// Of n and k: rows of 16-bit elements are read and written 16 bytes at a time.
inline constexpr std::int64_t kGemmAlignment = 8;

struct GatedGemmPlan {
  std::size_t tile = 0;  // of the architecture's tile shapes
  TileRaster raster;
  int blocks = 0;   // block (or cluster of blocks) b works on tiles b, b + blocks, ...
  int waves = 0;    // tiles of the block that has most
  // Or, blocks work on equal shares of all tiles' steps of k, one behind the other ("stream-K"):
  // where one's last tile is not whole, the next one's sums of the rest are added.
  bool streams_k = false;
  double cost = 0;  // as the architecture's rule has it
};

// The tiles of out, all in one group. Throws std::invalid_argument where 32 bits do not count them.
inline TileRaster tiles_of(const std::string& kernel, const GemmSize& size, int tile_rows,
                           int tile_cols) {
  const std::int64_t down = ceil_div(size.m, tile_rows), across = ceil_div(size.n, tile_cols);
  if (down * across > std::numeric_limits<int>::max() / 2) {
    throw std::invalid_argument(kernel + ": " + std::to_string(size.m) + " x " +
                                std::to_string(size.n) + " makes more tiles than 32 bits count");
  }
  return {.row_tiles = static_cast<int>(down), .col_tiles = static_cast<int>(across)};
}

// For the order of tiles, a cluster's tiles, one above the other, are one.
struct TileOfGroup {
  int rows = 0;
  int cols = 0;  // of h
  bool is_of_cluster = false;
};

// How many tiles down a group has (TileRaster::group_rows). at_work: tiles in progress at a time.
//
// If both weights stay in the L2 (a third of it), memory is read once in any order. The operands'
// rows in use, r rows of tiles of x and at_work / r columns of both weights, are fewest at r =
// sqrt(at_work x 2 cols / rows): 3 % faster than row by row, where there are few tiles. Clusters,
// whose blocks share weights, are faster row by row, which writes whole rows of h: 99.1 us for
// 100.1 at 8192 x 3072 x 768, 381.6 for 385.1 at four times the rows.
//
// If they do not stay, each group reads them again, and should have as many rows of tiles of x as
// stay in three tenths of the L2: weights and h pass through it too, and both of the two sides of a
// Hopper's or an A100's L2 hold what SMs of both sides read (NVIDIA A100 white paper). 4096 x 8192
// x 2048 takes 337.6 us in one group, 342.6 in groups of 1792 rows, 375.4 in groups of 256; 8192 x
// 11008 x 4096 takes 1812 in groups of 2048, 1908 in one. Where fewer than r / 2 stay, r is better.
//
// Groups have equal heights, since a last one of a row or two reads all weights again for little;
// and up to a sixth more, which saves a pass over the weights. On an H100 (50 MB of L2), where 15
// of the 16 rows of tiles of 4096 x 4096 x 2048 stay, the MLP took 267.8 us in groups of 15 and
// one, 264.3 in two of 8 and 264.0 in one; with 8192 columns of h 519.4, 515.5 and 514.2 (two
// processes of each).
//
// All but the last on one H200 (60 MB of L2), clocks not locked, in bursts, 2026-11-23.
inline int group_rows(const GemmSize& size, const TileOfGroup& tile, int at_work,
                      std::size_t l2_bytes) {
  const double l2 = static_cast<double>(l2_bytes), k = static_cast<double>(size.k);
  const double square = std::sqrt(at_work * 2.0 * tile.cols / tile.rows);
  const double that_stay = std::floor(0.3 * l2 / (2.0 * tile.rows * k));
  const bool weights_stay = 2 * 2.0 * static_cast<double>(size.n) * k <= l2 / 3;
  double best = square;
  if (weights_stay && tile.is_of_cluster) best = 1;
  if (!weights_stay && that_stay >= square / 2) best = that_stay;
  const std::int64_t row_tiles = ceil_div(size.m, tile.rows);
  const std::int64_t wanted = std::max<std::int64_t>(std::llround(best), 1);
  const std::int64_t groups = ceil_div(row_tiles, wanted + wanted / 6);
  return static_cast<int>(ceil_div(row_tiles, groups));
}

// Cheapest first, without those above `times` the cheapest's cost.
inline std::vector<GatedGemmPlan> cheapest(std::vector<GatedGemmPlan> plans, double times) {
  std::ranges::stable_sort(plans, {}, &GatedGemmPlan::cost);
  std::erase_if(plans, [most = plans.front().cost * times](const GatedGemmPlan& plan) {
    return plan.cost > most;
  });
  return plans;
}

}  // namespace fusegate::kernels
