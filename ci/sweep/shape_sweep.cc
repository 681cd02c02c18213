#include "ci/sweep/shape_sweep.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <tuple>
#include <utility>

#include "baselines/record/benchmark_name.h"

namespace fusegate::ci {
namespace {

// By shape and size along the axis.
using ByShape = std::map<std::pair<Shape, std::int64_t>, Splits>;

// Of what is finite and above 0; NaN where nothing was added.
class GeometricMean {
 public:
  void add(double value) {
    if (!std::isfinite(value) || value <= 0) return;
    log_sum_ += std::log(value);
    ++count_;
  }
  double value() const {
    return count_ > 0 ? std::exp(log_sum_ / count_) : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  double log_sum_ = 0;
  int count_ = 0;
};

SweepSeries series_of(const std::string& implementation, ByShape measured) {
  SweepSeries series{implementation, {}};
  for (auto& [at, splits] : measured) {
    GeometricMean time, tflops, gbps;
    for (const auto& [split, figures] : splits) {
      time.add(figures.time_ns);
      tflops.add(figures.tflops);
      gbps.add(figures.gbps);
    }
    SweepPoint point{at.second, at.first, time.value(), tflops.value(), gbps.value()};
    point.splits = std::move(splits);
    series.points.push_back(std::move(point));
  }
  return series;
}

// What the run's programs name for an operation or an implementation, as far as it was measured.
std::vector<std::string> named(const baselines::Run& run, const std::string& whose,
                               const ShapeSweep& sweep) {
  const auto found = run.compared_with.find(whose);
  if (found == run.compared_with.end()) return {};
  std::vector<std::string> names = found->second;
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::find(sweep.series, name, &SweepSeries::implementation) ==
           sweep.series.end();
  });
  return names;
}

// In the mean over its benchmarks; 0 where they were not counted.
double launches_of(const SweepSeries& series) {
  double sum = 0;
  int count = 0;
  for (const SweepPoint& point : series.points) {
    for (const auto& [split, figures] : point.splits) {
      if (!std::isfinite(figures.launches)) continue;
      sum += figures.launches;
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

void compare(const baselines::Run& run, ShapeSweep& sweep) {
  if (sweep.series.size() < 2) return;
  const auto names = named(run, sweep.operation, sweep);
  // Of equals the last.
  const auto least_fused =
      std::ranges::max_element(sweep.series | std::views::reverse, {}, launches_of);
  sweep.reference = names.empty() ? least_fused->implementation : names.front();
  for (SweepSeries& series : sweep.series) {
    series.compared_with = named(run, sweep.operation + "/" + series.implementation, sweep);
    const bool is_reference = series.implementation == sweep.reference;
    if (series.compared_with.empty() && !is_reference) series.compared_with = {sweep.reference};
  }
  std::ranges::stable_partition(sweep.series, [&](const SweepSeries& series) {
    return series.implementation == sweep.reference;
  });
  for (SweepSeries& series : sweep.series) {
    for (SweepPoint& point : series.points) {
      const SweepPoint* const same = same_point(sweep.series.front(), point);
      if (same != nullptr) point.speed_up = speed_up(point.splits, same->splits);
    }
  }
}

}  // namespace

std::vector<ShapeSweep> shape_sweeps(const baselines::Run& run) {
  std::map<std::tuple<std::string, std::string, std::string>, std::map<std::string, ByShape>> all;
  const SweepAxes axes(benchmark_names(run));
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    const auto name = baselines::parse_benchmark_name(series.name);
    const BenchmarkFigures figures = benchmark_figures(series);
    if (!name || !std::isfinite(figures.time_ns)) continue;
    const SweepPosition at = axes.position(*name);
    all[{name->operation, baselines::dtype_text(*name), at.axis}][name->implementation]
       [{at.shape, at.along}][at.split] = figures;
  }
  std::vector<ShapeSweep> sweeps;
  for (auto& [key, implementations] : all) {
    const auto& [operation, dtype, axis] = key;
    ShapeSweep sweep{operation, dtype, axis, {}, {}};
    for (auto& [implementation, measured] : implementations) {
      sweep.series.push_back(series_of(implementation, std::move(measured)));
    }
    compare(run, sweep);
    sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

const SweepPoint* same_point(const SweepSeries& series, const SweepPoint& point) {
  const auto key = [](const SweepPoint& one) { return std::tie(one.shape, one.along); };
  const auto found = std::ranges::lower_bound(series.points, key(point), {}, key);
  return found != series.points.end() && key(*found) == key(point) ? &*found : nullptr;
}

double speed_up(const Splits& splits, const Splits& reference) {
  GeometricMean mean;
  for (const auto& [split, figures] : splits) {
    const auto same = reference.find(split);
    if (same != reference.end()) mean.add(same->second.time_ns / figures.time_ns);
  }
  return mean.value();
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
