// Between which numbers a time and a clock are measurements: beyond these (32 years, and 1 PHz)
// sums and products reach the end of what a double holds.
#pragma once

#include <limits>
#include <string_view>

namespace fusegate::baselines {

inline constexpr double kShortestNs = 1e-9, kLongestNs = 1e18;
inline constexpr double kSlowestHz = 1, kFastestHz = 1e15;

// What is wrong with the time of a sample; empty where nothing is.
inline std::string_view time_problem(double time_ns) {
  if (!(time_ns > 0)) return "must be positive";
  if (!(time_ns <= kLongestNs)) return "is too large";
  if (!(time_ns >= kShortestNs)) return "is too small";
  return "";
}

// NaN for a clock that can be none. One of zero is how a failed reading looks.
inline double known_clock(double hz) {
  return kSlowestHz <= hz && hz <= kFastestHz ? hz : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace fusegate::baselines
