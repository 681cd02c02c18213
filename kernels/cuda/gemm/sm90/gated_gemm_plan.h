// How gated_gemm_sm90 cuts h [m, n] into tiles. Plain C++, tested without a GPU.
//
// The rule: the shape with the least cost, in microseconds,
//   start + waves x (stages x stage + epilogue),
// stages being k in steps of 64 and waves the tiles of the block that has most. Costs were fitted
// to times on an H200 (driver 580.159.04, 2026-11-21; 17 problems of 128 to 32768 rows, hidden x
// dim from 3072 x 768 to 14336 x 4096; errors of 3 to 10 %, root mean square). Time instead of
// cycles, since shapes that read more run at a lower clock. Tiles of 64 rows: 64 to 512 rows of
// 3072 x 768 (another H200, 2026-11-23).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {

struct GatedTileSm90 {
  int rows = 128;   // of x; or 64
  int cols = 0;     // of h; as many rows of w_gate and of w_up
  int stages = 0;   // of 64 columns of x and of the weights
  int cluster = 1;  // blocks that take tiles one above the other and share the weights they read
  bool promotes = false;  // sums of 128 columns of k are added up in fp32 (of e4m3)
  bool pingpong = false;  // a block works on two tiles in turn (gated_pingpong.cuh)
  double start_us = 0;
  double stage_us = 0;
  double epilogue_us = 0;
};

// From the most reuse to the most blocks. Clusters of two blocks are faster with many waves.
inline constexpr std::array<GatedTileSm90, 9> kGatedTilesSm90{{
    {.cols = 96, .stages = 4, .cluster = 2, .pingpong = true, .start_us = 3.3, .stage_us = 0.506},
    {.cols = 128,
     .stages = 3,
     .cluster = 2,
     .start_us = 2.9,
     .stage_us = 0.662,
     .epilogue_us = 0.26},
    {.cols = 128, .stages = 3, .start_us = 2.45, .stage_us = 0.672, .epilogue_us = 0.2},
    {.cols = 96, .stages = 4, .start_us = 2.2, .stage_us = 0.504, .epilogue_us = 0.38},
    {.cols = 64, .stages = 5, .start_us = 1.95, .stage_us = 0.37, .epilogue_us = 0.08},
    {.cols = 48, .stages = 5, .start_us = 1.6, .stage_us = 0.3},
    {.cols = 32, .stages = 6, .start_us = 1.0, .stage_us = 0.284},
    {.rows = 64, .cols = 64, .stages = 6, .start_us = 1.5, .stage_us = 0.25},
    {.rows = 64, .cols = 48, .stages = 8, .start_us = 1.56, .stage_us = 0.243},
}};

// That of the product that also stores g and u, the one with the most reuse.
inline constexpr std::size_t kKeepingTileSm90 = 0;

// Of e4m3 elements, with stages of 128 columns; all are worth measuring.
inline constexpr std::array<GatedTileSm90, 3> kGatedTilesFp8Sm90{{
    {.cols = 96, .stages = 5, .cluster = 2, .pingpong = true},
    {.cols = 128, .stages = 3, .cluster = 2},
    {.cols = 128, .stages = 3, .cluster = 2, .promotes = true},
}};

// The plan with this tile; blocks counts clusters where the tile has them. Throws
// std::invalid_argument for sizes that check_sizes or tiles_of refuses.
GatedGemmPlan plan_gated_gemm_sm90(const GemmSize& size, const GpuLimits& gpu, std::size_t tile);

// The same of e4m3 elements, whose plans have no cost.
GatedGemmPlan plan_gated_gemm_fp8_sm90(const GemmSize& size, const GpuLimits& gpu,
                                       std::size_t tile);

// Those up to 1.2 times the cheapest's cost, cheapest first: what is worth measuring. Throws the
// same.
std::vector<GatedGemmPlan> gated_gemm_plans_sm90(const GemmSize& size, const GpuLimits& gpu);

// "tile 128 x (128 + 128) x 64, 3 stages, 66 clusters of 2 blocks, 12 waves"
std::string plan_text_sm90(const GatedGemmPlan& plan);
std::string plan_text_fp8_sm90(const GatedGemmPlan& plan);

}  // namespace fusegate::kernels
