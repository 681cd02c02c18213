// How gated_gemm_sm80 cuts h [m, n] into tiles: their shape, their order and how many blocks. Plain
// C++, tested without a GPU.
//
// The rule: the shape with the least cost, which is the time of the SM with most tiles, in cycles,
//   ceil(tiles / SMs) x (k x (rows 2 cols / kMmaRate + (rows + 2 cols) 2 B / fill rate) + epilogue)
// k in whole steps, and the fill rate an SM's share of kL2Rate. kMmaRate and kL2Rate are
// an A100's (NVIDIA A100 white paper: 1024 dense 16-bit multiply-adds a clock and SM; L2 reads 5120
// bytes a clock), since devices do not report them. The epilogue counts only where an SM has one
// block; else another's products hide it. It is bound by the special functions: two an element, 16
// a clock and SM (CUDA Programming Guide, "Arithmetic Instructions"). Not fitted to measurements:
// the rule selects what to measure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {

// Every warp holds 32 columns of the gate and the same 32 of the up product: four 8-column
// fragments, which four threads turn into 16-byte stores.
inline constexpr int kGatedWarpCols = 32;

// A block's tile of h. In elements unless named otherwise.
struct GatedTile {
  int rows = 0;
  int cols = 0;    // of h; as many rows of w_gate and of w_up
  int k_step = 0;  // how much of dim a stage holds
  int stages = 0;  // ring of shared memory buffers
  int warps_down = 0;
  int blocks_per_sm = 0;  // which the registers per thread allow

  FUSEGATE_HOST_DEVICE constexpr int warp_rows() const { return rows / warps_down; }
  FUSEGATE_HOST_DEVICE constexpr int warps_across() const { return cols / kGatedWarpCols; }
  FUSEGATE_HOST_DEVICE constexpr int threads() const { return 32 * warps_down * warps_across(); }
  FUSEGATE_HOST_DEVICE constexpr int stage_rows() const { return rows + 2 * cols; }
  FUSEGATE_HOST_DEVICE constexpr int stage_bytes() const { return stage_rows() * k_step * 2; }
  FUSEGATE_HOST_DEVICE constexpr int shared_bytes() const { return stages * stage_bytes(); }
};

// From the most reuse to the most blocks. The first fills an SM with one block: 8 warps with 128
// accumulators a thread, three stages of 144 of an A100's 163 KiB. Of the second, half as large,
// two share an SM, so that one's epilogue overlaps the other's products. The third is for few rows;
// the last for decode, where many small blocks keep most reads of weights in flight.
inline constexpr std::array<GatedTile, 4> kGatedTiles{{
    {.rows = 128, .cols = 128, .k_step = 64, .stages = 3, .warps_down = 2, .blocks_per_sm = 1},
    {.rows = 128, .cols = 64, .k_step = 32, .stages = 4, .warps_down = 2, .blocks_per_sm = 2},
    {.rows = 64, .cols = 64, .k_step = 64, .stages = 3, .warps_down = 2, .blocks_per_sm = 2},
    {.rows = 32, .cols = 32, .k_step = 64, .stages = 4, .warps_down = 2, .blocks_per_sm = 4},
}};

// The plan with this tile. Throws std::invalid_argument where it does not fit, and for sizes that
// check_sizes or tiles_of refuses.
GatedGemmPlan plan_gated_gemm_sm80(const GemmSize& size, const GpuLimits& gpu, std::size_t tile);

// Those up to 1.5 times the cheapest's cost, cheapest first: what is worth measuring. Throws also
// where no tile fits in the GPU's shared memory.
std::vector<GatedGemmPlan> gated_gemm_plans_sm80(const GemmSize& size, const GpuLimits& gpu);

// Blocks that an SM holds at one time.
int resident_blocks(const GatedTile& tile, const GpuLimits& gpu);
bool fits(const GatedTile& tile, const GpuLimits& gpu);

// "tile 128 x (128 + 128) x 64, 3 stages, 147456 bytes shared, 132 blocks of 256 threads, 12 waves"
std::string plan_text(const GatedGemmPlan& plan);

}  // namespace fusegate::kernels
