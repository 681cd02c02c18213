// For tests of what must not take time with the square of its input. A limit in seconds is one of
// the machine, a busy one's or a sanitizer's too; how the time grows is one of the code.
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace fusegate::baselines {

// The processor time of `large` as multiple of that of `small`: the least of three turns of each,
// taken in turn, since other programs on the machine only add to it. With an input eight times as
// large it is about 8, or 64 where the time goes with the square.
template <typename Small, typename Large>
double work_growth(const Small& small, const Large& large) {
  const auto add_turn = [](const auto& work, double& least) {
    const std::clock_t start = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - start));
  };
  double small_time = std::numeric_limits<double>::infinity(), large_time = small_time;
  for (int turn = 0; turn < 3; ++turn) {
    add_turn(small, small_time);
    add_turn(large, large_time);
  }
  return large_time / std::max(small_time, 1.0);
}

// Between the two, nearer to neither: with an input eight times as large.
inline constexpr double kMostGrowthOfEight = 24;

}  // namespace fusegate::baselines
