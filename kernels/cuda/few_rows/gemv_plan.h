// How gemv is cut: columns per block, and warps that share k. Plain C++, tested without a GPU.
// autotune.h measures which plan is fastest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fusegate::kernels {

inline constexpr int kGemvChunk = 256;  // elements of k that a warp loads at once, 16 bytes a lane

struct GemvShape {
  int cols = 0;   // per block
  int ahead = 0;  // chunks of k that loads of weights are ahead of products
};

inline constexpr int kMostGemvWarps = 16;  // a block

// A thread has cols x weights x ahead loads of 16 bytes in flight, at most sixteen.
inline constexpr std::array<GemvShape, 5> kGemvShapes{{
    {.cols = 4, .ahead = 1},
    {.cols = 8, .ahead = 1},
    {.cols = 2, .ahead = 1},
    {.cols = 4, .ahead = 2},
    {.cols = 6, .ahead = 1},
}};

struct GemvPlan {
  std::size_t shape = 0;  // of kGemvShapes
  int blocks = 0;
  int warps = 0;  // a block
};

// Each shape with up to 8 and up to kMostGemvWarps warps, the fewest that need the same number of
// rounds. Throws std::invalid_argument unless k is a multiple of 8 from 8 to 2^24 and cols is
// positive and within 31 bits.
std::vector<GemvPlan> gemv_plans(std::int64_t cols, std::int64_t k);

// "gemv: 3584 blocks of 8 warps, 4 columns each, 1 chunk ahead"
std::string plan_text(const GemvPlan& plan);

}  // namespace fusegate::kernels
