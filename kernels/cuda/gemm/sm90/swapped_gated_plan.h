// How swapped_gated_sm90 cuts h [m, n] into tiles, and where it is worth measuring. Plain C++,
// tested without a GPU.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {

struct SwappedTileSm90 {
  int rows = 0;       // of x, a multiple of 8
  int consumers = 2;  // warpgroups, each of 32 x halves columns of h
  int halves = 1;
  int stages = 0;   // of 64 columns of x and of the weights
  int cluster = 2;  // blocks side by side, which share the rows of x that they read

  constexpr int cols() const { return 32 * consumers * halves; }  // of h
};

inline constexpr std::array<SwappedTileSm90, 10> kSwappedTilesSm90{{
    {.rows = 72, .halves = 2, .stages = 5, .cluster = 2},
    {.rows = 104, .consumers = 3, .stages = 5, .cluster = 4},
    {.rows = 104, .halves = 2, .stages = 4, .cluster = 2},
    {.rows = 128, .halves = 2, .stages = 4, .cluster = 2},
    {.rows = 152, .halves = 2, .stages = 3, .cluster = 2},
    {.rows = 176, .stages = 5, .cluster = 4},
    {.rows = 208, .stages = 4, .cluster = 4},
    {.rows = 208, .consumers = 3, .stages = 3, .cluster = 2},
    {.rows = 208, .consumers = 3, .stages = 3, .cluster = 4},
    {.rows = 256, .stages = 4, .cluster = 4},
}};

// The plan with this tile; blocks counts clusters. Throws std::invalid_argument for sizes that
// check_sizes or tiles_of refuses.
GatedGemmPlan plan_swapped_gated_sm90(const GemmSize& size, const GpuLimits& gpu, std::size_t tile);

// Those that compute no more than 1.5 times what the least does on the busiest SM, least first:
// what is worth measuring. None for fewer than 65 rows or more than 1,024. Throws the same.
std::vector<GatedGemmPlan> swapped_gated_plans_sm90(const GemmSize& size, const GpuLimits& gpu);

// "swapped, tile 208 x (96 + 96) x 64, 3 stages, 27 clusters of 4 blocks, 1 waves"
std::string swapped_text_sm90(const GatedGemmPlan& plan);

}  // namespace fusegate::kernels
