// The logarithm at which a figure of unchanged code lies: of a benchmark on one card, or against
// one reference.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace fusegate::baselines {

// What others wrote may be anything. Beyond e^1000 ns there is no time.
inline bool is_logarithm(double value) { return std::abs(value) < 1000; }

struct Level {
  double mean = kNone;
  double nights = 0;  // that it is known by: its variance is one night's over these
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  bool is_known() const { return nights > 0; }
};

// What a benchmark's code takes, as a logarithm against the first nights: changes that were
// accepted add up.
struct CodeLevel {
  double mean = 0;
  double variance = 0;
};

// A figure of one night about its level: code and noise. Not known where `variance` is zero.
struct Figure {
  double value = 0;
  double variance = 0;     // the night's and its level's
  double gain = 0;         // the share of what is left that the level takes
  int key = 0;             // whose level it is
  bool is_judged = false;  // its noise is known

  bool is_known() const { return variance > 0; }
};

}  // namespace fusegate::baselines
