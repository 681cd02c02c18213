#include "ci/sweep/shape_sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "baselines/record/benchmark_name.h"
#include "ci/sweep/benchmark_figures.h"

namespace fusegate::ci {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What fusion is measured against, whichever of these an operation has: every stage a kernel.
constexpr std::array<std::string_view, 2> kReferences{"unfused", "matmul_add"};

using At = std::pair<Shape, std::int64_t>;  // a shape, and along its axis

// One implementation's figures by where they are, and within that by how M is split.
using ByShape = std::map<At, std::map<Shape, BenchmarkFigures>>;
using ByImplementation = std::map<std::string, ByShape>;

// By operation, dtype and axis.
std::map<std::tuple<std::string, std::string, std::string>, ByImplementation> by_operation(
    const baselines::Run& run) {
  std::map<std::tuple<std::string, std::string, std::string>, ByImplementation> grouped;
  const SweepAxes axes(benchmark_names(run));
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    const auto name = baselines::parse_benchmark_name(series.name);
    const BenchmarkFigures figures = benchmark_figures(series);
    if (!name || !std::isfinite(figures.time_ns)) continue;
    const SweepPosition position = axes.position(*name);
    grouped[{name->operation, name->dtype, position.axis}][name->implementation]
           [{position.shape, position.along}][position.split] = figures;
  }
  return grouped;
}

class GeometricMean {
 public:
  void add(double value) {
    if (!std::isfinite(value) || value <= 0) return;
    log_sum_ += std::log(value);
    ++count_;
  }
  double value() const { return count_ > 0 ? std::exp(log_sum_ / count_) : kNan; }

 private:
  double log_sum_ = 0;
  int count_ = 0;
};

SweepPoint point_of(const At& at, const std::map<Shape, BenchmarkFigures>& splits,
                    const ByShape* reference) {
  GeometricMean time;
  GeometricMean tflops;
  GeometricMean gbps;
  GeometricMean speed_up;
  for (const auto& [split, figures] : splits) {
    time.add(figures.time_ns);
    tflops.add(figures.tflops);
    gbps.add(figures.gbps);
    if (reference == nullptr) continue;
    const auto at_shape = reference->find(at);
    if (at_shape == reference->end()) continue;
    // Against the very same problem: another split of M is another cache and launch pattern.
    const auto same = at_shape->second.find(split);
    if (same != at_shape->second.end()) speed_up.add(same->second.time_ns / figures.time_ns);
  }
  return {at.second, at.first, time.value(), tflops.value(), gbps.value(), speed_up.value()};
}

ShapeSweep sweep_of(const std::string& operation, const std::string& dtype, const std::string& axis,
                    const ByImplementation& implementations) {
  ShapeSweep sweep{operation, dtype, axis, "", {}};
  const ByShape* reference = nullptr;
  for (const std::string_view candidate : kReferences) {
    const auto found = implementations.find(std::string(candidate));
    if (reference != nullptr || found == implementations.end()) continue;
    sweep.reference = candidate;
    reference = &found->second;
  }
  for (const auto& [implementation, shapes] : implementations) {
    SweepSeries series{implementation, {}};
    for (const auto& [at, splits] : shapes) {
      series.points.push_back(point_of(at, splits, reference));
    }
    sweep.series.push_back(std::move(series));
  }
  std::stable_partition(sweep.series.begin(), sweep.series.end(), [&](const SweepSeries& series) {
    return series.implementation == sweep.reference;
  });
  return sweep;
}

}  // namespace

std::vector<ShapeSweep> shape_sweeps(const baselines::Run& run) {
  std::vector<ShapeSweep> sweeps;
  for (const auto& [key, implementations] : by_operation(run)) {
    const auto& [operation, dtype, axis] = key;
    sweeps.push_back(sweep_of(operation, dtype, axis, implementations));
  }
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
