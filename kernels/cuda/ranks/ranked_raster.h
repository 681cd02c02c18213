// The order of a product's tiles where rows are ranks': all of one rank's, then all of the next
// one's, each in the order of a TileRaster. A rank begins with the rows that it can begin with, or
// that others wait for.
#pragma once

#include "kernels/contract/host_device.h"
#include "kernels/cuda/gemm/tile_raster.h"

namespace fusegate::kernels {

struct RankedRaster {
  TileRaster part;  // of a rank's rows; of all rows where parts is 1
  int parts = 1;
  int first = 0;  // whose rows come first

  FUSEGATE_HOST_DEVICE constexpr int count() const { return parts * part.count(); }
  FUSEGATE_HOST_DEVICE constexpr TilePosition at(int index) const {
    const int of = (first + index / part.count()) % parts;
    const TilePosition within = part.at(index % part.count());
    return {of * part.row_tiles + within.row, within.col};
  }
  // Whose rows a tile's are, and where it lies among them.
  FUSEGATE_HOST_DEVICE constexpr int owner(const TilePosition& tile) const {
    return tile.row / part.row_tiles;
  }
  FUSEGATE_HOST_DEVICE constexpr TilePosition within(const TilePosition& tile) const {
    return {tile.row % part.row_tiles, tile.col};
  }
};

}  // namespace fusegate::kernels
