// How a GEMM is cut into tiles, whatever the architecture: out [rows, cols] of x [rows, k] and
// weights. Of GeGLU's product, cols is hidden and k is dim.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/tile_raster.h"

namespace fusegate {

struct GemmSize {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t k = 0;
};

struct GemmPlan {
  std::size_t tile = 0;  // of the architecture's tile shapes
  TileRaster raster;
  int blocks = 0;   // block (or cluster of blocks) b works on tiles b, b + blocks, ...
  int waves = 0;    // tiles of the block that has most
  double cost = 0;  // as the architecture's rule has it
};

}  // namespace fusegate
