#include "ci/sweep/measured_shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "baselines/record/benchmark_name.h"

namespace fusegate::ci {
namespace {

std::vector<std::string> named(const baselines::Run& run, const std::string& whose,
                               const std::map<std::string, ByShape>& measured) {
  const auto found = run.compared_with.find(whose);
  if (found == run.compared_with.end()) return {};
  std::vector<std::string> names = found->second;
  std::erase_if(names, [&](const std::string& name) { return !measured.contains(name); });
  return names;
}

// In the mean over its benchmarks; 0 where they were not counted.
double launches_of(const ByShape& shapes) {
  double sum = 0;
  int count = 0;
  for (const auto& [at, splits] : shapes) {
    for (const auto& [split, figures] : splits) {
      if (!std::isfinite(figures.launches)) continue;
      sum += figures.launches;
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

std::string least_fused(const std::map<std::string, ByShape>& implementations) {
  std::string least;
  double most = 0;
  for (const auto& [name, shapes] : implementations) {
    const double launches = launches_of(shapes);
    if (launches < most) continue;
    least = name;
    most = launches;
  }
  return least;
}

void compare(const baselines::Run& run, OperationShapes& shapes) {
  if (shapes.implementations.size() < 2) return;
  const auto names = named(run, shapes.operation, shapes.implementations);
  shapes.reference = names.empty() ? least_fused(shapes.implementations) : names.front();
  for (const auto& [name, figures] : shapes.implementations) {
    auto own = named(run, shapes.operation + "/" + name, shapes.implementations);
    if (own.empty() && name != shapes.reference) own = {shapes.reference};
    if (!own.empty()) shapes.compared_with[name] = std::move(own);
  }
}

}  // namespace

std::vector<OperationShapes> measured_shapes(const baselines::Run& run) {
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
  std::vector<OperationShapes> result;
  for (auto& [key, implementations] : all) {
    const auto& [operation, dtype, axis] = key;
    result.push_back({operation, dtype, axis, std::move(implementations), {}, {}});
    compare(run, result.back());
  }
  return result;
}

double speed_up(const Splits& splits, const Splits& reference) {
  GeometricMean mean;
  for (const auto& [split, figures] : splits) {
    const auto same = reference.find(split);
    if (same != reference.end()) mean.add(same->second.time_ns / figures.time_ns);
  }
  return mean.value();
}

void GeometricMean::add(double value) {
  if (!std::isfinite(value) || value <= 0) return;
  log_sum_ += std::log(value);
  ++count_;
}

double GeometricMean::value() const {
  return count_ > 0 ? std::exp(log_sum_ / count_) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace fusegate::ci
