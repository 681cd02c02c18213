#include "baselines/calibration/cards.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "baselines/comparing/comparison.h"

namespace fusegate::baselines {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double floored_root(double variance) {
  return std::isnan(variance) ? variance : std::sqrt(std::max(0.0, variance));
}

// variances: of each benchmark, in time, in cycles and at equal clock.
CardSpread card_spread(const std::vector<std::array<double, 3>>& variances,
                       const std::function<bool(std::size_t)>& is_member) {
  int benchmarks = 0;
  std::array<double, 3> sums{};
  for (std::size_t i = 0; i < variances.size(); ++i) {
    if (!is_member(i)) continue;
    ++benchmarks;
    std::ranges::transform(sums, variances[i], sums.begin(), std::plus{});
  }
  return {benchmarks, floored_root(sums[0] / benchmarks), floored_root(sums[1] / benchmarks),
          floored_root(sums[2] / benchmarks)};
}

}  // namespace

double between_groups_variance(const std::vector<std::vector<double>>& groups) {
  const VarianceEstimate within = pooled_variance({groups.begin(), groups.end()});
  if (groups.size() < 2 || within.degrees_of_freedom == 0) return kNan;
  double count = 0;
  double sum = 0;
  double squared_sizes = 0;
  for (const auto& group : groups) {
    const auto size = static_cast<double>(group.size());
    count += size;
    squared_sizes += size * size;
    sum += std::accumulate(group.begin(), group.end(), 0.0);
  }
  double squares = 0;
  for (const auto& group : groups) {
    const double distance = mean(group) - sum / count;
    squares += static_cast<double>(group.size()) * distance * distance;
  }
  const auto degrees_of_freedom = static_cast<double>(groups.size() - 1);
  const double typical_size = (count - squared_sizes / count) / degrees_of_freedom;
  return (squares / degrees_of_freedom - within.variance) / typical_size;
}

Interval deviation_factors(double degrees_of_freedom) {
  const boost::math::chi_squared squares(degrees_of_freedom);
  const auto factor = [&](double p) {
    return std::sqrt(degrees_of_freedom / boost::math::quantile(squares, p));
  };
  return {factor(0.975), factor(0.025)};
}

std::optional<Bound> bound_of(const BenchmarkSeries& series) {
  const std::optional<double> intensity = intensity_of(series);
  if (!intensity) return std::nullopt;
  constexpr double kComputeBoundFlopsPerByte = 100;
  return *intensity >= kComputeBoundFlopsPerByte ? Bound::kCompute : Bound::kMemory;
}

std::optional<BetweenCard> between_card(const CalibrationPool& pool,
                                        const std::vector<DurationClass>& classes) {
  if (pool.cards.size() < 2) return std::nullopt;
  const auto& series = pool.cards.front().benchmarks;
  std::vector<std::array<double, 3>> variances;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto variance_at = [&](double share) {
      return between_groups_variance(logarithms(pool.cards, i, share));
    };
    variances.push_back(
        {variance_at(0), variance_at(1), variance_at(pooled_clock_share(pool.cards, i))});
  }
  BetweenCard result;
  result.cards = static_cast<int>(pool.cards.size());
  result.all = card_spread(variances, [](std::size_t) { return true; });
  for (const DurationClass duration : kDurationClasses) {
    result.classes[class_index(duration)] =
        card_spread(variances, [&](std::size_t i) { return classes[i] == duration; });
  }
  const auto spread_of = [&](Bound bound) {
    return card_spread(variances, [&](std::size_t i) { return bound_of(series[i]) == bound; });
  };
  result.compute_bound = spread_of(Bound::kCompute);
  result.memory_bound = spread_of(Bound::kMemory);
  return result;
}

}  // namespace fusegate::baselines
