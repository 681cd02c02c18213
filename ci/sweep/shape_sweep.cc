#include "ci/sweep/shape_sweep.h"

#include <algorithm>
#include <cmath>

#include "ci/sweep/measured_shapes.h"

namespace fusegate::ci {
namespace {

SweepPoint point_of(const ByShape::value_type& measured, const ByShape* reference) {
  const auto& [at, splits] = measured;
  GeometricMean time;
  GeometricMean tflops;
  GeometricMean gbps;
  for (const auto& [split, figures] : splits) {
    time.add(figures.time_ns);
    tflops.add(figures.tflops);
    gbps.add(figures.gbps);
  }
  SweepPoint point{at.second, at.first, time.value(), tflops.value(), gbps.value()};
  if (reference == nullptr) return point;
  const auto same = reference->find(at);
  if (same != reference->end()) point.speed_up = speed_up(splits, same->second);
  return point;
}

ShapeSweep sweep_of(const OperationShapes& shapes) {
  ShapeSweep sweep{shapes.operation, shapes.dtype, shapes.axis, shapes.reference, {}};
  const auto reference = shapes.implementations.find(shapes.reference);
  for (const auto& [implementation, measured] : shapes.implementations) {
    SweepSeries& series = sweep.series.emplace_back();
    series.implementation = implementation;
    for (const auto& one : measured) {
      series.points.push_back(
          point_of(one, reference == shapes.implementations.end() ? nullptr : &reference->second));
    }
  }
  std::ranges::stable_partition(sweep.series, [&](const SweepSeries& series) {
    return series.implementation == sweep.reference;
  });
  return sweep;
}

}  // namespace

std::vector<ShapeSweep> shape_sweeps(const baselines::Run& run) {
  std::vector<ShapeSweep> sweeps;
  for (const OperationShapes& shapes : measured_shapes(run)) sweeps.push_back(sweep_of(shapes));
  return sweeps;
}

SweepSummary summarise(const SweepSeries& series) {
  SweepSummary summary;
  GeometricMean mean;
  for (const SweepPoint& point : series.points) {
    if (!std::isfinite(point.speed_up)) continue;
    mean.add(point.speed_up);
    if (summary.points == 0 || point.speed_up > summary.best.speed_up) summary.best = point;
    if (summary.points == 0 || point.speed_up < summary.worst.speed_up) summary.worst = point;
    ++summary.points;
    if (point.speed_up > 1) ++summary.faster;
  }
  summary.mean_speed_up = mean.value();
  return summary;
}

}  // namespace fusegate::ci
