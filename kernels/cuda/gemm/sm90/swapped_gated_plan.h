// How swapped_gated_sm90 cuts h [m, n] into tiles, and where it is worth measuring. Plain C++,
// tested without a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {

struct SwappedTileSm90 {
  int rows = 0;              // of x, a multiple of 8
  int cols = 0;              // of h, a multiple of 32
  bool halves_rows = false;  // a block's two consumers share out rows of x, not the weights
  int stages = 0;            // of 64 columns of x and of the weights
  int cluster = 2;           // blocks side by side, which share the rows of x that they read
};

inline constexpr std::array<SwappedTileSm90, 7> kSwappedTilesSm90{{
    {.rows = 104, .cols = 128, .stages = 5},
    {.rows = 112, .cols = 160, .halves_rows = true, .stages = 4},
    {.rows = 152, .cols = 128, .stages = 4},
    {.rows = 176, .cols = 64, .stages = 5, .cluster = 4},
    {.rows = 208, .cols = 64, .stages = 5, .cluster = 4},
    {.rows = 208, .cols = 96, .halves_rows = true, .stages = 4},
    {.rows = 256, .cols = 64, .stages = 4, .cluster = 4},
}};

// The plan with this tile; blocks counts clusters. Throws std::invalid_argument for sizes that
// check_sizes or tiles_of refuses.
GatedGemmPlan plan_swapped_gated_sm90(const GemmSize& size, const GpuLimits& gpu, std::size_t tile);

// Those that compute no more than 1.5 times what the least does on the busiest SM, least first:
// what is worth measuring. None for fewer than 65 rows or more than 1,024. Throws the same.
std::vector<GatedGemmPlan> swapped_gated_plans_sm90(const GemmSize& size, const GpuLimits& gpu);

// "swapped, tile 208 x (96 + 96) x 64, 3 stages, 27 clusters of 4 blocks, 1 waves"
std::string swapped_text_sm90(const GatedGemmPlan& plan);

// The same of products, swapped_split_sm90: tiles of so many rows of x by 128 columns of out, k
// split over so many blocks of a cluster.
struct SwappedSplitShape {
  int rows = 0;    // a multiple of 8
  int splits = 1;
  int stages = 0;  // of 64 columns of x and of w
};
inline constexpr int kSwappedSplitColumns = 128;

inline constexpr std::array<SwappedSplitShape, 9> kSwappedSplitShapes{{
    {.rows = 104, .splits = 1, .stages = 7},
    {.rows = 104, .splits = 2, .stages = 6},
    {.rows = 104, .splits = 3, .stages = 6},
    {.rows = 104, .splits = 4, .stages = 6},
    {.rows = 128, .splits = 2, .stages = 6},
    {.rows = 128, .splits = 3, .stages = 5},
    {.rows = 152, .splits = 2, .stages = 5},
    {.rows = 152, .splits = 3, .stages = 4},
    {.rows = 208, .splits = 3, .stages = 3},
}};

// Indices of the shapes whose blocks each have a part of k and an SM of their own, and three
// quarters of the SMs have one. None for fewer than 65 rows.
std::vector<std::size_t> swapped_split_shapes(const GemmSize& size, const GpuLimits& gpu);

// "swapped_split_sm90: tiles of 104 x 128, k over 3 blocks"
std::string swapped_split_text(std::size_t shape);

}  // namespace fusegate::kernels
