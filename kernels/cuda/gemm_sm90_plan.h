// How gemm_sm90 cuts a product into tiles: out = x w^T, or the two products of GeGLU. Plain C++, so
// that it is tested without a GPU.
//
// The rule: the shape with the least cost, in microseconds,
//   start + waves x (stages x stage + epilogue),
// stages being k in steps of 64 and waves the tiles of the block that has most. The shapes' costs
// were fitted to times on an H200 (driver 580.159.04, 2026-11-21; 2048 to 8192 rows of hidden x dim
// 3072 x 768, 8192 x 2048 and 14336 x 4096), the two narrowest shapes' to fewer. Time and not
// cycles, since shapes that read more run at a lower clock.
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/gemm_plan.h"

namespace fusegate {

// What becomes of a product before it is stored.
enum class GemmEpilogue { kNone, kGeglu };

inline constexpr int kGemmSm90Rows = 128;  // of every tile

struct GemmTileSm90 {
  // Rows of weights in each half of a tile. The halves are w_gate's and w_up's, whose products are
  // one column of h, or neighbours of a single w.
  int half = 0;
  int stages = 0;   // of 64 columns of x and of the weights
  int cluster = 1;  // blocks that take tiles one above the other and share the weights they read
  double start_us = 0;
  double stage_us = 0;
  double epilogue_us = 0;

  constexpr int cols(GemmEpilogue epilogue) const {
    return epilogue == GemmEpilogue::kGeglu ? half : 2 * half;
  }
};

// From the most reuse to the most blocks. Two blocks a cluster pay where there are many waves.
inline constexpr std::array<GemmTileSm90, 6> kGemmTilesSm90{{
    {.half = 128,
     .stages = 3,
     .cluster = 2,
     .start_us = 4.05,
     .stage_us = 0.655,
     .epilogue_us = 0.40},
    {.half = 128, .stages = 3, .start_us = 2.63, .stage_us = 0.659, .epilogue_us = 0.58},
    {.half = 96,
     .stages = 4,
     .cluster = 2,
     .start_us = 4.05,
     .stage_us = 0.500,
     .epilogue_us = 0.40},
    {.half = 96, .stages = 4, .start_us = 1.65, .stage_us = 0.508, .epilogue_us = 0.385},
    {.half = 64, .stages = 5, .start_us = 1.2, .stage_us = 0.345, .epilogue_us = 0.45},
    {.half = 32, .stages = 6, .start_us = 1.0, .stage_us = 0.27, .epilogue_us = 0.25},
}};

// The cheapest plan. blocks counts clusters where the tile has them. Throws std::invalid_argument
// where cols or k are no multiples of 8, or a size is below 1 or beyond 32 bits.
GemmPlan plan_gemm_sm90(const GemmSize& size, GemmEpilogue epilogue, int sm_count);
// The plan with this tile.
GemmPlan plan_gemm_sm90(const GemmSize& size, GemmEpilogue epilogue, int sm_count,
                        std::size_t tile);

// "tile 128 x (128 + 128) x 64, 3 stages, 66 clusters of 2 blocks, 12 waves"
std::string plan_text_sm90(const GemmPlan& plan);

}  // namespace fusegate
