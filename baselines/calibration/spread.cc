#include "baselines/calibration/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace fusegate::baselines {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Of logarithms, within cards; its variance is NaN where a value is missing.
VarianceEstimate within_cards(const std::vector<std::vector<double>>& cards) {
  const VarianceEstimate pooled = pooled_variance({cards.begin(), cards.end()});
  return pooled.degrees_of_freedom > 0 ? pooled : VarianceEstimate{kUnknown, 0};
}

double geometric_mean(const std::vector<std::vector<double>>& cards) {
  double sum = 0;
  double count = 0;
  for (const auto& card : cards) {
    for (const double value : card) sum += value;
    count += static_cast<double>(card.size());
  }
  return std::exp(sum / count);
}

SpreadSummary summary_of(const std::vector<const BenchmarkCalibration*>& benchmarks,
                         double BenchmarkCalibration::*spread, double target) {
  SpreadSummary summary;
  std::vector<double> spreads;
  double squares = 0;
  double degrees_of_freedom = 0;
  for (const BenchmarkCalibration* benchmark : benchmarks) {
    const double own = benchmark->*spread;
    if (!std::isfinite(own)) continue;
    spreads.push_back(own);
    squares += benchmark->degrees_of_freedom * own * own;
    degrees_of_freedom += benchmark->degrees_of_freedom;
    summary.within_target += own <= target;
  }
  summary.quantiles = quantiles_of(spreads);
  summary.rms = std::sqrt(squares / degrees_of_freedom);
  return summary;
}

}  // namespace

Quantiles quantiles_of(const std::vector<double>& values) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite),
                       [](double value) { return std::isfinite(value); });
  return {static_cast<int>(finite.size()), quantile(finite, 0.5), quantile(finite, 0.9),
          quantile(finite, 1)};
}

std::vector<BenchmarkCalibration> benchmark_spreads(const std::vector<Run>& cards) {
  std::vector<BenchmarkCalibration> benchmarks;
  for (std::size_t i = 0; i < cards.front().benchmarks.size(); ++i) {
    const auto times = logarithms(cards, i, 0);
    const VarianceEstimate time = within_cards(times);
    const VarianceEstimate cycles = within_cards(logarithms(cards, i, 1));
    const VarianceEstimate equal_clock =
        within_cards(logarithms(cards, i, pooled_clock_share(cards, i)));
    BenchmarkCalibration benchmark;
    benchmark.name = cards.front().benchmarks[i].name;
    benchmark.time_ns = geometric_mean(times);
    benchmark.spread_time = std::sqrt(time.variance);
    benchmark.spread_cycles = std::sqrt(cycles.variance);
    benchmark.spread_equal_clock = std::sqrt(equal_clock.variance);
    benchmark.degrees_of_freedom = time.degrees_of_freedom;
    benchmark.smallest_detectable = kUnknown;
    benchmarks.push_back(std::move(benchmark));
  }
  return benchmarks;
}

PerClass<ClassSpread> class_spreads(const std::vector<BenchmarkCalibration>& benchmarks,
                                    const std::vector<DurationClass>& classes) {
  PerClass<ClassSpread> spreads;
  for (const DurationClass duration : kDurationClasses) {
    std::vector<const BenchmarkCalibration*> members;
    for (std::size_t i = 0; i < benchmarks.size(); ++i) {
      if (classes[i] == duration) members.push_back(&benchmarks[i]);
    }
    const double target = spread_target(duration);
    spreads[class_index(duration)] = {
        summary_of(members, &BenchmarkCalibration::spread_time, target),
        summary_of(members, &BenchmarkCalibration::spread_cycles, target),
        summary_of(members, &BenchmarkCalibration::spread_equal_clock, target)};
  }
  return spreads;
}

}  // namespace fusegate::baselines
