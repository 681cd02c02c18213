// The order in which a GEMM works on the tiles of its output.
#pragma once

#include "kernels/contract/host_device.h"

namespace fusegate::kernels {

struct TilePosition {
  int row = 0;
  int col = 0;
};

// Down group_rows tiles of a column, then the next column; after the last column the next group.
// The tiles in progress then read few rows of x and of the weights, which fit in L2; row by row,
// they would read every weight for a single row of tiles.
struct TileRaster {
  int row_tiles = 0;
  int col_tiles = 0;
  int group_rows = 1;

  FUSEGATE_HOST_DEVICE constexpr int count() const { return row_tiles * col_tiles; }
  FUSEGATE_HOST_DEVICE constexpr TilePosition at(int index) const {
    const int group = index / (group_rows * col_tiles);
    const int first = group * group_rows;
    const int left = row_tiles - first;
    const int height = left < group_rows ? left : group_rows;
    const int within = index - first * col_tiles;
    return {first + within % height, within / height};
  }
};

}  // namespace fusegate::kernels
