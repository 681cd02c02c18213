#include "baselines/comparing/drift.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

constexpr double kLevel = 0.01;

// Whether the control differs for certain; then the shift is at least its effect.
bool add_control(const Contrast& contrast, double level, Shift& shift) {
  Contrast magnitude = contrast;
  magnitude.effect = std::abs(contrast.effect);
  if (p_above(magnitude, 0) > level) return false;
  double& side = contrast.effect > 0 ? shift.slower : shift.faster;
  side = std::max(side, magnitude.effect);
  return true;
}

// The values that part the sorted ones into so many parts.
std::vector<double> quantiles(std::vector<double> values, std::size_t parts) {
  std::ranges::sort(values);
  std::vector<double> edges;
  for (std::size_t part = 1; part < parts && !values.empty(); ++part) {
    edges.push_back(values[part * values.size() / parts]);
  }
  return edges;
}

int part_of(double value, const std::vector<double>& edges) {
  return static_cast<int>(std::ranges::upper_bound(edges, value) - edges.begin());
}

}  // namespace

Drift drift_of(std::vector<Comparison>& suite) {
  const auto controls = std::ranges::count_if(suite, &Comparison::is_unchangeable);
  constexpr std::ptrdiff_t kTests = 2 * kQuantities.size();  // of a control, in both directions
  const double level = kLevel / static_cast<double>(std::max<std::ptrdiff_t>(1, controls) * kTests);
  Drift drift;
  for (Comparison& comparison : suite) {
    if (!comparison.is_unchangeable() || comparison.has_single_process) continue;
    for (const Quantity quantity : kQuantities) {
      const Contrast* contrast = comparison.contrast(quantity);
      comparison.has_moved |= contrast && add_control(*contrast, level, drift[quantity]);
    }
  }
  return drift;
}

bool shows_machine_alone(const Comparison& comparison) {
  if (comparison.is_identical || !comparison.is_control) return comparison.is_identical;
  return !code_is_known(*comparison.baseline) || !code_is_known(*comparison.candidate);
}

std::vector<int> machine_groups(const std::vector<Comparison>& suite) {
  constexpr std::size_t kDurations = 3, kBounds = 2;
  std::vector<double> durations;
  std::vector<double> intensities;
  for (const Comparison& comparison : suite) {
    durations.push_back(mean_log_time(comparison));
    if (const auto known = intensity_of(*comparison.candidate)) intensities.push_back(*known);
  }
  const std::vector<double> duration_edges = quantiles(durations, kDurations);
  const std::vector<double> bound_edges = quantiles(intensities, kBounds);
  std::vector<int> groups;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const auto known = intensity_of(*suite[i].candidate);
    const int bound = known ? part_of(*known, bound_edges) : static_cast<int>(kBounds);
    groups.push_back(bound * static_cast<int>(kDurations) + part_of(durations[i], duration_edges));
  }
  return groups;
}

double mean_log_time(const Comparison& comparison) {
  double sum = 0;
  std::size_t count = 0;
  for (const BenchmarkSeries* series : {comparison.baseline, comparison.candidate}) {
    for (const ProcessSummary& summary : series->processes) sum += std::log(summary.time_ns);
    count += series->processes.size();
  }
  return sum / static_cast<double>(count);
}

}  // namespace fusegate::baselines
