// The shape sweep of a run: for every operation and dtype, how much faster each implementation is
// than the one that the others are compared with, over M = batch x seq or another axis
// (sweep_axis.h), at every shape.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "baselines/record/run.h"
#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/sweep_axis.h"

namespace fusegate::ci {

// By how M splits into batch and seq; of one M and shape.
using Splits = std::map<Shape, BenchmarkFigures>;

// Problems with the same M and shape, however M splits into batch and seq, are one point; its
// figures are geometric means over them.
struct SweepPoint {
  std::int64_t along = 0;  // M, or the size of the sweep's axis
  Shape shape{};
  double time_ns = 0;
  double tflops = 0;  // NaN where FLOPs were not recorded
  double gbps = 0;    // NaN where bytes were not recorded
  // Over the sweep's reference; NaN where that has no time.
  double speed_up = std::numeric_limits<double>::quiet_NaN();
  Splits splits{};
};

struct SweepSeries {
  std::string implementation;
  std::vector<SweepPoint> points;  // by shape, then along the axis
  // What says where it stops paying, in place of the sweep's reference; those that were measured.
  std::vector<std::string> compared_with{};
};

struct ShapeSweep {
  std::string operation;
  std::string dtype;  // with axes of names, fractions and switches: "fp16, causal true"
  std::string axis;   // "M", or the axis that is swept
  // The one that speed-ups are against: the first that the run's programs name and that was
  // measured. Older files name none: then the one that launches most kernels, of equals the last by
  // name. Empty where there are no others.
  std::string reference;
  std::vector<SweepSeries> series;  // the reference first, then by name
};

// By operation, dtype and axis. Benchmarks with names of other programs, or without a time, are
// left out.
std::vector<ShapeSweep> shape_sweeps(const baselines::Run& run);

// The series' point of the same size and shape; null where it has none.
const SweepPoint* same_point(const SweepSeries& series, const SweepPoint& point);

// The geometric mean, over splits that both have, of the reference's time over this one's; NaN
// where there is none. Another split of M is another pattern of caches and launches.
double speed_up(const Splits& splits, const Splits& reference);

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
