// How geglu_gemm_sm90 cuts h [rows, hidden] = gelu_tanh(x w_gate^T) * (x w_up^T) into tiles. Plain
// C++, so that it is tested without a GPU.
//
// The rule: the shape with the least cost, in SM cycles,
//   start + waves x (steps x step + epilogue),
// steps being dim in whole stages of 64 and waves the tiles of the block that has most. What a
// start, a step and an epilogue cost was fitted to times on an H200 (driver 580.159.04, 2026-11-21;
// rows x hidden x dim from 128 x 3072 x 768 to 8192 x 11008 x 4096) and is off by up to a fifth;
// the order of the shapes is what counts.
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/geglu_gemm_plan.h"

namespace fusegate {

inline constexpr int kGegluSm90Rows = 128;  // of every tile

struct GegluTileSm90 {
  int cols = 0;     // of h; as many rows of w_gate and of w_up
  int stages = 0;   // of 64 columns of x and of the weights
  int cluster = 1;  // blocks that take tiles one above the other and share the weights they read
  double start_cycles = 0;
  double step_cycles = 0;
  double epilogue_cycles = 0;
};

// From the most reuse to the most blocks. Two blocks a cluster pay where there are many waves.
inline constexpr std::array<GegluTileSm90, 5> kGegluTilesSm90{{
    {.cols = 128,
     .stages = 4,
     .cluster = 2,
     .start_cycles = 5000,
     .step_cycles = 1060,
     .epilogue_cycles = 3250},
    {.cols = 128, .stages = 4, .start_cycles = 3500, .step_cycles = 1100, .epilogue_cycles = 3250},
    {.cols = 96, .stages = 4, .start_cycles = 3500, .step_cycles = 830, .epilogue_cycles = 2450},
    {.cols = 64, .stages = 5, .start_cycles = 3500, .step_cycles = 640, .epilogue_cycles = 1650},
    {.cols = 32, .stages = 6, .start_cycles = 3500, .step_cycles = 480, .epilogue_cycles = 850},
}};

// The cheapest plan. blocks counts clusters where the tile has them. Throws std::invalid_argument
// where hidden or dim are no multiples of 8, or a size is below 1 or beyond 32 bits.
GegluGemmPlan plan_geglu_gemm_sm90(const GegluGemmSize& size, int sm_count);
// The plan with this tile.
GegluGemmPlan plan_geglu_gemm_sm90(const GegluGemmSize& size, int sm_count, std::size_t tile);

// "tile 128 x (128 + 128) x 64, 4 stages, 66 clusters of 2 blocks, 12 waves"
std::string plan_text_sm90(const GegluGemmPlan& plan);

}  // namespace fusegate
