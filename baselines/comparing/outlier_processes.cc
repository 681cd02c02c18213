#include "baselines/comparing/outlier_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

constexpr std::size_t kFewestInARow = 3;
constexpr std::size_t kFewestBenchmarks = 8;
constexpr double kOutlierRanges = 5;

// Of each process of a card, benchmark by benchmark.
using Deviations = std::map<int, std::vector<double>>;

void add_row(const BenchmarkSeries& series, int card, Deviations& deviations) {
  std::vector<std::pair<int, double>> row;
  std::vector<double> logarithms;
  for (const ProcessSummary& summary : series.processes) {
    if (summary.card != card) continue;
    row.emplace_back(summary.process, std::log(summary.time_ns));
    logarithms.push_back(row.back().second);
  }
  if (row.size() < kFewestInARow) return;
  const double middle = median(std::move(logarithms));
  for (const auto& [process, logarithm] : row) deviations[process].push_back(logarithm - middle);
}

struct Deviation {
  int process = 0;
  double value = 0;
  std::size_t benchmarks = 0;
};

double range_of(std::span<const Deviation> sorted) {
  return sorted.back().value - sorted.front().value;
}

// Sorted by value.
std::vector<Deviation> deviations_on(const Run& run, int card) {
  Deviations deviations;
  for (const BenchmarkSeries& series : run.benchmarks) add_row(series, card, deviations);
  std::vector<Deviation> result;
  for (auto& [process, values] : deviations) {
    const std::size_t benchmarks = values.size();
    if (benchmarks < kFewestBenchmarks) continue;
    result.push_back({process, median(std::move(values)), benchmarks});
  }
  std::ranges::sort(result, {}, &Deviation::value);
  return result;
}

// The closest three quarters of them.
std::span<const Deviation> inliers_among(const std::vector<Deviation>& sorted) {
  const std::size_t count = sorted.size() - std::max<std::size_t>(1, sorted.size() / 4);
  const auto from = [&](std::size_t first) { return std::span(sorted).subspan(first, count); };
  std::size_t closest = 0;
  for (std::size_t first = 1; first + count <= sorted.size(); ++first) {
    if (range_of(from(first)) < range_of(from(closest))) closest = first;
  }
  return from(closest);
}

void add_outliers(const Run& run, const std::vector<Deviation>& sorted, double min_effect,
                  std::vector<Outlier>& outliers) {
  if (sorted.size() < kFewestInARow) return;
  const std::span<const Deviation> inliers = inliers_among(sorted);
  const double least = std::max(std::log1p(min_effect), kOutlierRanges * range_of(inliers));
  std::vector<double> values;
  for (const Deviation& inlier : inliers) values.push_back(inlier.value);
  const double middle = median(std::move(values));
  for (const Deviation& one : sorted) {
    const double beyond =
        std::max(one.value - inliers.back().value, inliers.front().value - one.value);
    if (beyond <= least) continue;
    outliers.push_back({.process = one.process,
                        .name = run.process_names.at(static_cast<std::size_t>(one.process)),
                        .relative_deviation = std::expm1(one.value - middle),
                        .benchmarks = one.benchmarks,
                        .is_set_aside = sorted.size() >= kFewestToSetAside});
  }
}

// What differs by less hides little, and time at equal clock is mostly free of it.
constexpr double kLeastEffects = 2;

}  // namespace

std::vector<Outlier> outlier_processes(const Run& run, double min_effect) {
  if (run.process_names.empty()) return {};
  std::vector<Outlier> outliers;
  const int cards = static_cast<int>(cards_of(run).size());
  for (int card = 0; card < cards; ++card) {
    add_outliers(run, deviations_on(run, card), kLeastEffects * min_effect, outliers);
  }
  return outliers;
}

std::string outlier_text(const Outlier& outlier) {
  return fmt::format(
      "process {} is an outlier: {:.1f} % {} than the others (median of {} benchmarks)",
      outlier.name, 100 * std::abs(outlier.relative_deviation),
      outlier.relative_deviation > 0 ? "slower" : "faster", outlier.benchmarks);
}

Run without_outliers(Run run, const std::vector<Outlier>& outliers) {
  const auto is_set_aside = [&outliers](const ProcessSummary& summary) {
    const auto found = std::ranges::find(outliers, summary.process, &Outlier::process);
    return found != outliers.end() && found->is_set_aside;
  };
  for (BenchmarkSeries& series : run.benchmarks) std::erase_if(series.processes, is_set_aside);
  return run;
}

}  // namespace fusegate::baselines
