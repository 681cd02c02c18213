// For tests of plans, whatever the architecture.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "kernels/cuda/gemm/gemm_size.h"
#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels {

inline bool visits_every_tile_once(const TileRaster& raster) {
  std::vector<bool> seen(static_cast<std::size_t>(raster.count()));
  for (int i = 0; i < raster.count(); ++i) {
    const auto [row, col] = raster.at(i);
    if (row < 0 || row >= raster.row_tiles || col < 0 || col >= raster.col_tiles) return false;
    const auto index = static_cast<std::size_t>(row * raster.col_tiles + col);
    if (seen[index]) return false;
    seen[index] = true;
  }
  return true;
}

// All of out, with no tile to spare.
inline void expect_covers(const TileRaster& raster, const GemmSize& size, std::int64_t tile_rows,
                          std::int64_t tile_cols) {
  EXPECT_GE(raster.row_tiles * tile_rows, size.m);
  EXPECT_LT((raster.row_tiles - 1) * tile_rows, size.m);
  EXPECT_GE(raster.col_tiles * tile_cols, size.n);
  EXPECT_LT((raster.col_tiles - 1) * tile_cols, size.n);
  EXPECT_GE(raster.group_rows, 1);
  EXPECT_LE(raster.group_rows, raster.row_tiles);
  EXPECT_TRUE(visits_every_tile_once(raster));
}

// Sizes that the copy engines cannot address, or whose tiles 32 bits do not count.
template <typename Plan>
void expect_refuses(const Plan& plan) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 30;
  for (const GemmSize& size : {GemmSize{8, 12, 64},
                               {8, 64, 20},
                               {0, 64, 64},
                               {std::int64_t{1} << 31, 64, 64},
                               {kHuge, kHuge, 64}}) {
    EXPECT_THROW(plan(size), std::invalid_argument) << size.m << " " << size.n << " " << size.k;
  }
}

}  // namespace fusegate::kernels
