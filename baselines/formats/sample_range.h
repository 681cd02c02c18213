// The range of times and clocks: beyond these limits (32 years and 1 PHz) sums and products
// overflow a double.
#pragma once

#include <limits>
#include <string_view>

namespace fusegate::baselines {

inline constexpr double kShortestNs = 1e-9, kLongestNs = 1e18;
inline constexpr double kSlowestHz = 1, kFastestHz = 1e15;

// Why a sample's time cannot be used; empty where it can.
inline std::string_view time_problem(double time_ns) {
  if (!(time_ns > 0)) return "must be positive";
  if (!(time_ns <= kLongestNs)) return "is too large";
  if (!(time_ns >= kShortestNs)) return "is too small";
  return "";
}

// NaN for an impossible clock. A failed reading is zero.
inline double known_clock(double hz) {
  return kSlowestHz <= hz && hz <= kFastestHz ? hz : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace fusegate::baselines
