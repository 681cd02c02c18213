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
  int rows = 0;                 // of x, a multiple of 8
  int cols = 0;                 // of h, a multiple of 32
  bool halves_rows = false;     // a block's two consumers share out rows of x, not the weights
  int stages = 0;               // of 64 columns of x and of the weights
  int cluster = 2;              // blocks side by side, which share the rows of x that they read
  bool shares_weights = false;  // or one above the other, and it is weights that they share
};

// Each but the first two was the fastest at one of 100 to 300 rows of 2560 x 10240, 3584 x 14336
// and 1152 x 6912 (an H200; docs/evidence/hundreds-of-rows.md). The second takes 130.5 us at 64
// rows of 5120 x 25600, and tiles of 64 x 64, not swapped, 136.1; the first 175.6 for 184.5 at 32
// (an H100). Of the weights, two blocks one above the other read half from the L2: 300 x 3584 x
// 14336 takes 96.5 us so, and 109.0 where two side by side share x.
inline constexpr std::array<SwappedTileSm90, 8> kSwappedTilesSm90{{
    {.rows = 32, .cols = 128, .stages = 6},
    {.rows = 64, .cols = 128, .stages = 5},
    {.rows = 104, .cols = 128, .stages = 5},
    {.rows = 128, .cols = 160, .halves_rows = true, .stages = 4, .shares_weights = true},
    {.rows = 152, .cols = 128, .stages = 4, .shares_weights = true},
    {.rows = 208, .cols = 64, .stages = 5, .cluster = 4},
    {.rows = 208, .cols = 96, .halves_rows = true, .stages = 4},
    {.rows = 256, .cols = 64, .stages = 4, .cluster = 4},
}};

// The plan with this tile; blocks counts clusters. streams_k: where it may, GatedGemmPlan's. Throws
// std::invalid_argument for sizes that check_sizes or tiles_of refuses.
GatedGemmPlan plan_swapped_gated_sm90(const GemmSize& size, const GpuLimits& gpu, std::size_t tile,
                                      bool streams_k = false);

// Those that compute no more than 1.5 times what the least does on the busiest SM, least first:
// what is worth measuring. None for fewer than 17 rows or more than 512. Throws the same.
std::vector<GatedGemmPlan> swapped_gated_plans_sm90(const GemmSize& size, const GpuLimits& gpu);

// "swapped, tile 208 x (96 + 96) x 64, 3 stages, 27 clusters of 4 blocks, 1 waves"; or, for the
// waves, "stream-K"
std::string swapped_text_sm90(const GatedGemmPlan& plan);

}  // namespace fusegate::kernels
