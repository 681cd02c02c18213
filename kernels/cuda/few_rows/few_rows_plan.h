// How few_rows_gemm cuts a product of few rows of x [rows, k] with weights [cols, k] into blocks:
// which shape of kernel, how many columns and warps a block has. Plain C++, so that it is tested
// without a GPU.
//
// A block owns some columns and reads their weights, and all of x, from first to last k; its warps
// share k out. So no sum ever leaves a block: a reduction over blocks would cost a round trip
// through device memory, when a decode step's kernels take little longer than that. Where there
// are fewer columns than would keep every SM busy, a block just gets fewer.
//
// The rule: the columns a block that make the least of
//   bytes of the SM with most blocks / kSmRate + bytes of all blocks / kL2Rate,
// either of which can be what binds. kL2Rate is what an L2 delivers a clock, 5120 bytes (NVIDIA
// A100 whitepaper); kSmRate, what one SM takes of that, is set to 64. A shape with more columns
// must be cheaper by a twentieth, since smaller blocks fill in each other's pauses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract/host_device.h"
#include "kernels/cuda/device/gpu_limits.h"

namespace fusegate::kernels {

inline constexpr std::int64_t kMostFewRows = 64;

// What one warp multiplies at a time. In units of rows but where named otherwise.
struct FewRowsShape {
  int x_tiles = 0;  // of 8 rows of x
  int w_sets = 0;   // of 8 rows of weights; two make up one operand of an mma
  int depth = 0;    // chunks of k that a thread's loads of weights are ahead of its products
  int most_warps = 0;

  FUSEGATE_HOST_DEVICE constexpr int x_rows() const { return x_tiles * 8; }
  FUSEGATE_HOST_DEVICE constexpr int w_rows() const { return w_sets * 8; }
  FUSEGATE_HOST_DEVICE constexpr int w_tiles() const { return (w_sets + 1) / 2; }
};

// k in a chunk: four threads take 16 bytes each of a row.
inline constexpr int kFewRowsChunk = 32;

// By x_tiles, then w_sets, the deepest first. A thread has depth x w_sets loads of 16 bytes on
// their way, about as many as registers allow beside x and the sums. The first shape is for the
// down product of one token.
inline constexpr std::array<FewRowsShape, 14> kFewRowsShapes{{
    {.x_tiles = 1, .w_sets = 1, .depth = 8, .most_warps = 16},
    {.x_tiles = 1, .w_sets = 2, .depth = 4, .most_warps = 16},
    {.x_tiles = 1, .w_sets = 2, .depth = 2, .most_warps = 16},
    {.x_tiles = 1, .w_sets = 4, .depth = 6, .most_warps = 8},
    {.x_tiles = 1, .w_sets = 4, .depth = 3, .most_warps = 16},
    {.x_tiles = 1, .w_sets = 4, .depth = 2, .most_warps = 16},
    {.x_tiles = 1, .w_sets = 6, .depth = 3, .most_warps = 8},
    {.x_tiles = 2, .w_sets = 2, .depth = 4, .most_warps = 16},
    {.x_tiles = 2, .w_sets = 4, .depth = 2, .most_warps = 16},
    {.x_tiles = 4, .w_sets = 2, .depth = 2, .most_warps = 16},
    {.x_tiles = 4, .w_sets = 4, .depth = 2, .most_warps = 12},
    {.x_tiles = 8, .w_sets = 2, .depth = 2, .most_warps = 8},
    {.x_tiles = 8, .w_sets = 4, .depth = 2, .most_warps = 8},
    {.x_tiles = 8, .w_sets = 6, .depth = 1, .most_warps = 8},
}};

struct FewRowsSize {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t k = 0;
  int weights = 1;  // 2: gate and up, a column of each being one of the result
};

struct FewRowsPlan {
  std::size_t shape = 0;  // of kFewRowsShapes
  int cols_per_block = 0;
  int blocks = 0;
  int warps = 0;    // a block
  double cost = 0;  // the rule's, in clocks

  // Cut alike.
  friend bool operator==(const FewRowsPlan& a, const FewRowsPlan& b) {
    return a.shape == b.shape && a.cols_per_block == b.cols_per_block && a.warps == b.warps;
  }
};

// Whether the shape can compute the product at all.
bool fits(const FewRowsShape& shape, const FewRowsSize& size);

// The cheapest plan. Throws std::invalid_argument where rows is not between 1 and kMostFewRows, k
// no multiple of 8 or beyond 2^24, or a size below 1 or beyond 32 bits.
FewRowsPlan plan_few_rows(const FewRowsSize& size, const GpuLimits& gpu);
// The cheapest with this shape, which must fit.
FewRowsPlan plan_few_rows(const FewRowsSize& size, const GpuLimits& gpu, std::size_t shape);
// What is worth measuring (autotune.h): the cheapest, then what other shapes of as few rows
// make of it, by the rule and with all the columns that a block can have.
std::vector<FewRowsPlan> few_rows_plans(const FewRowsSize& size, const GpuLimits& gpu);

// "few_rows: 128 blocks of 12 warps, 6 columns each, x in 1 x 8 rows, weights in 1 x 8, 8 chunks
// ahead"
std::string plan_text(const FewRowsPlan& plan);

}  // namespace fusegate::kernels
