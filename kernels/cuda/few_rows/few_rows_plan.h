// How few_rows_gemm cuts a product of few rows of x [rows, k] with weights [cols, k] into blocks:
// the kernel's shape, and a block's columns and warps. Plain C++, tested without a GPU.
//
// A block computes some columns over all of k, which its warps share. So no sum leaves a block: a
// reduction over blocks would cost a round trip through device memory, which is not much less than
// a decode step's kernel takes. Blocks get fewer columns where there are too few for every SM.
//
// The rule: the columns per block with the least
//   bytes of the SM with most blocks / kSmRate + bytes of all blocks / kL2Rate,
// either of which can be the bound. kL2Rate is what an L2 delivers per clock, 5120 bytes (NVIDIA
// A100 whitepaper); kSmRate, for one SM, is set to 64. A shape with more columns must be cheaper by
// 5 %, since smaller blocks overlap better.
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

// What one warp multiplies at a time.
struct FewRowsShape {
  int x_tiles = 0;  // of 8 rows of x
  int w_sets = 0;   // of 8 rows of weights; two make up one operand of an mma
  int depth = 0;    // chunks of k that loads of weights are ahead of products
  int most_warps = 0;

  FUSEGATE_HOST_DEVICE constexpr int x_rows() const { return x_tiles * 8; }
  FUSEGATE_HOST_DEVICE constexpr int w_rows() const { return w_sets * 8; }
  FUSEGATE_HOST_DEVICE constexpr int w_tiles() const { return (w_sets + 1) / 2; }
};

// k in a chunk: four threads take 16 bytes each of a row.
inline constexpr int kFewRowsChunk = 32;

// By x_tiles, then w_sets, the deepest first. A thread has depth x w_sets loads of 16 bytes in
// flight, about as many as registers allow. The first shape is for the down product of one token.
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
  int weights = 1;  // 2: gate and up, a column of each makes one of the result
};

struct FewRowsPlan {
  std::size_t shape = 0;  // of kFewRowsShapes
  int cols_per_block = 0;
  int blocks = 0;
  int warps = 0;    // a block
  double cost = 0;  // the rule's, in clocks

  friend bool operator==(const FewRowsPlan& a, const FewRowsPlan& b) {
    return a.shape == b.shape && a.cols_per_block == b.cols_per_block && a.warps == b.warps;
  }
};

bool fits(const FewRowsShape& shape, const FewRowsSize& size);

// The cheapest plan. Throws std::invalid_argument unless rows is 1 to kMostFewRows, k a multiple of
// 8 up to 2^24, and cols positive and within 32 bits.
FewRowsPlan plan_few_rows(const FewRowsSize& size, const GpuLimits& gpu);
// The cheapest with this shape, which must fit.
FewRowsPlan plan_few_rows(const FewRowsSize& size, const GpuLimits& gpu, std::size_t shape);
// What is worth measuring (autotune.h): the cheapest, then other shapes of as few rows, by the rule
// and with the most columns per block.
std::vector<FewRowsPlan> few_rows_plans(const FewRowsSize& size, const GpuLimits& gpu);

// "few_rows: 128 blocks of 12 warps, 6 columns each, x in 1 x 8 rows, weights in 1 x 8, 8 chunks
// ahead"
std::string plan_text(const FewRowsPlan& plan);

}  // namespace fusegate::kernels
