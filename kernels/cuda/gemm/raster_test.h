// For tests of plans, whatever the architecture.
#pragma once

#include <cstddef>
#include <vector>

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

}  // namespace fusegate::kernels
