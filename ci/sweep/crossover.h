// Where fusion stops paying: the time of an implementation over that of another, over M, and the M
// at which the ratio crosses 1. Where problems have no M, it is another axis
// (sweep_axis.h).
//
// Between two neighbouring measured Ms the logarithm of the ratio is taken as linear in log M:
// times follow power laws of M where one term leads, and so do their ratios. The crossing is an
// estimate between two measurements and is shown with both. What lies outside of the measured Ms is
// not known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ci/sweep/shape_sweep.h"

namespace fusegate::ci {

// Problems with the same M, however it splits into batch and seq, are one point: the geometric mean
// of their ratios.
struct RatioPoint {
  std::int64_t along = 0;  // M
  double ratio = 0;        // below 1: fusion pays

  bool pays() const { return ratio < 1; }
};

struct Crossing {
  double along = 0;  // M, interpolated; within the two
  RatioPoint before;
  RatioPoint after;  // the next larger M
};

struct Crossover {
  std::string operation;
  std::string dtype;
  std::string axis;  // "M", or another
  Shape shape;
  std::string implementation;
  std::string against;
  std::vector<RatioPoint> points;   // by M; not empty
  std::vector<Crossing> crossings;  // by M; a ratio may cross 1 more than once
};

// For above a list of them.
inline constexpr std::string_view kCrossoverNote =
    "The M of a crossing lies between two measured ones, by log of the ratio over log of M.";

// For each operation, dtype and shape: every implementation over what it is compared with, where
// both were measured at an M at least. By operation, dtype, implementation, other, shape.
std::vector<Crossover> crossovers(const std::vector<ShapeSweep>& sweeps);

// "stops paying at M 1200 (0.970 at 512, 1.03 at 2048)", "starts paying at M ...", each crossing in
// turn; "always pays, M 128 to 8192" and "never pays, M 128" of the measured Ms where there is
// none.
std::string crossover_text(const Crossover& crossover);

}  // namespace fusegate::ci
