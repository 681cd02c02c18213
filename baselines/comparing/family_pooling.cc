#include "baselines/comparing/family_pooling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fusegate::baselines {
namespace {

struct WeightedMean {
  double weight = 0;  // of all rows
  double mean = 0;
  double squares = 0;  // about the mean, weighted: Cochran's Q where tau^2 is zero
};

double weight_of(const Estimate& row, double tau_squared) {
  return 1 / (row.standard_error * row.standard_error + tau_squared);
}

WeightedMean weighted_mean(const std::vector<Estimate>& rows, double tau_squared) {
  WeightedMean result;
  for (const Estimate& row : rows) {
    const double weight = weight_of(row, tau_squared);
    result.weight += weight;
    result.mean += weight * row.effect;
  }
  result.mean /= result.weight;
  for (const Estimate& row : rows) {
    const double distance = row.effect - result.mean;
    result.squares += weight_of(row, tau_squared) * distance * distance;
  }
  return result;
}

// The squares fall as tau^2 grows. At the upper end they are below k range^2 / tau^2 = k - 1.
double paule_mandel(const std::vector<Estimate>& rows) {
  const double expected = static_cast<double>(rows.size()) - 1;
  if (rows.size() < 2 || weighted_mean(rows, 0).squares <= expected) return 0;
  const auto [least, most] = std::ranges::minmax(rows, {}, &Estimate::effect);
  const double range = most.effect - least.effect;
  double low = 0;
  double high = range * range * static_cast<double>(rows.size()) / expected;
  constexpr int kHalvings = 60;  // down to the resolution of a double
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::midpoint(low, high);
    (weighted_mean(rows, middle).squares > expected ? low : high) = middle;
  }
  return high;
}

double i_squared(double q, std::size_t rows) {
  const double expected = static_cast<double>(rows) - 1;
  return q > expected ? (q - expected) / q : 0;
}

}  // namespace

PooledEffects pool_effects(const std::vector<Estimate>& rows) {
  PooledEffects pooled;
  pooled.tau_squared = paule_mandel(rows);
  pooled.heterogeneity = i_squared(weighted_mean(rows, 0).squares, rows.size());
  const WeightedMean mean = weighted_mean(rows, pooled.tau_squared);
  pooled.mean = {mean.mean, std::sqrt(1 / mean.weight)};
  for (const Estimate& row : rows) {
    const double weight = weight_of(row, pooled.tau_squared);
    pooled.weights.push_back(weight / mean.weight);
    const double own_share = pooled.tau_squared * weight;
    pooled.shrunken.push_back(mean.mean + own_share * (row.effect - mean.mean));
  }
  return pooled;
}

}  // namespace fusegate::baselines
