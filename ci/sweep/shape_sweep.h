// The shape sweep of a run: for every operation and dtype, how much faster each implementation is
// than the one that the others are compared with (measured_shapes.h), over M = batch x seq or
// another axis (sweep_axis.h), at every shape.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "baselines/record/run.h"
#include "ci/sweep/sweep_axis.h"

namespace fusegate::ci {

// Problems with the same M and shape, however M splits into batch and seq, are one point; its
// figures are geometric means over them.
struct SweepPoint {
  std::int64_t along = 0;  // M, or the size of the sweep's axis
  Shape shape{};
  double time_ns = 0;
  double tflops = 0;  // NaN where FLOPs were not recorded
  double gbps = 0;    // NaN where bytes were not recorded
  // The reference's time over this one's; NaN where the reference has none.
  double speed_up = std::numeric_limits<double>::quiet_NaN();
};

struct SweepSeries {
  std::string implementation;
  std::vector<SweepPoint> points;  // by shape, then along the axis
};

struct ShapeSweep {
  std::string operation;
  std::string dtype;
  std::string axis;       // "M", or the axis that is swept
  std::string reference;  // the implementation that speed-ups are against; empty where it is alone
  std::vector<SweepSeries> series;  // the reference first, then by name
};

// By operation, then dtype. Benchmarks with names of other programs, or without a time, are left
// out.
std::vector<ShapeSweep> shape_sweeps(const baselines::Run& run);

// How one implementation fares over a sweep, for a line in a table.
struct SweepSummary {
  double mean_speed_up = 0;  // geometric
  SweepPoint best;
  SweepPoint worst;
  int points = 0;  // that have a speed-up; the others are not counted
  int faster = 0;  // points with a speed-up above 1
};
SweepSummary summarise(const SweepSeries& series);

}  // namespace fusegate::ci
