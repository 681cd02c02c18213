#include "baselines/calibration/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace fusegate::baselines {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Of logarithms, within cards; its variance is NaN where a value is missing.
VarianceEstimate within_cards(const std::vector<std::vector<double>>& cards) {
  const VarianceEstimate pooled = pooled_variance({cards.begin(), cards.end()});
  return pooled.degrees_of_freedom > 0 ? pooled : VarianceEstimate{kNan, 0};
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

PooledCard without(const PooledCard& card, std::size_t left_out) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < card.invocations(); ++i) {
    if (i != left_out) kept.push_back(i);
  }
  return {drawn_run(card, kept), std::vector<std::size_t>(kept.size())};
}

double jackknife_error(const std::vector<double>& estimates) {
  const auto n = static_cast<double>(estimates.size());
  const VarianceEstimate variance = pooled_variance({estimates});
  return std::sqrt((n - 1) * (n - 1) / n * variance.variance);
}

}  // namespace

double quantile(std::vector<double> values, double p) {
  if (values.empty()) return kNan;
  std::ranges::sort(values);
  const double position = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

Quantiles quantiles_of(const std::vector<double>& values) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite),
                       [](double value) { return std::isfinite(value); });
  return {static_cast<int>(finite.size()), quantile(finite, 0.5), quantile(finite, 0.9),
          quantile(finite, 1)};
}

std::vector<BenchmarkCalibration> benchmark_spreads(const std::vector<PooledCard>& cards) {
  std::vector<BenchmarkCalibration> benchmarks;
  for (std::size_t i = 0; i < cards.front().run.benchmarks.size(); ++i) {
    const auto times = logarithms(cards, i, 0);
    const VarianceEstimate time = within_cards(times);
    const VarianceEstimate cycles = within_cards(logarithms(cards, i, 1));
    const VarianceEstimate equal_clock =
        within_cards(logarithms(cards, i, pooled_clock_share(cards, i)));
    BenchmarkCalibration benchmark;
    benchmark.name = cards.front().run.benchmarks[i].name;
    benchmark.time_ns = geometric_mean(times);
    benchmark.spread_time = std::sqrt(time.variance);
    benchmark.spread_cycles = std::sqrt(cycles.variance);
    benchmark.spread_equal_clock = std::sqrt(equal_clock.variance);
    benchmark.degrees_of_freedom = time.degrees_of_freedom;
    benchmark.smallest_detectable = kNan;
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

PerClass<SpreadError> rms_errors(const PooledCard& card,
                                 const std::vector<DurationClass>& classes) {
  PerClass<std::vector<double>> times;
  PerClass<std::vector<double>> cycles;
  PerClass<std::vector<double>> equal_clock;
  for (std::size_t left_out = 0; left_out < card.invocations(); ++left_out) {
    const auto spreads = class_spreads(benchmark_spreads({without(card, left_out)}), classes);
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      times[i].push_back(spreads[i].time.rms);
      cycles[i].push_back(spreads[i].cycles.rms);
      equal_clock[i].push_back(spreads[i].equal_clock.rms);
    }
  }
  PerClass<SpreadError> errors;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors[i] = {jackknife_error(times[i]), jackknife_error(cycles[i]),
                 jackknife_error(equal_clock[i])};
  }
  return errors;
}

}  // namespace fusegate::baselines
