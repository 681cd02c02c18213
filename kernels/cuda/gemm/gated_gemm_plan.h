// How a GEMM with a gated unit as its epilogue is cut into tiles, whatever the architecture:
// h [rows, hidden] = activation(x w_gate^T) * (x w_up^T), x [rows, dim].
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace fusegate::kernels
