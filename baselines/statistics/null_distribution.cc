#include "baselines/statistics/null_distribution.h"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace fusegate::baselines {
namespace {

// Scatter below it is none (moderated_contrasts.cc).
constexpr double kLeastVariance = 3e-5 * 3e-5;

struct Mean {
  double value = 0;
  double variance = 0;
};

// Of draws from one distribution with that scatter, each known with a variance.
Mean weighted_mean(const std::vector<Mean>& draws, double scatter) {
  double weights = 0;
  double sum = 0;
  for (const Mean& draw : draws) {
    const double weight = 1 / (draw.variance + scatter);
    weights += weight;
    sum += weight * draw.value;
  }
  return {sum / weights, 1 / weights};
}

// The scatter with which the weighted squares about the mean are what chance makes them, n - 1.
VarianceEstimate scatter_of(const std::vector<Mean>& draws) {
  const double degrees_of_freedom = static_cast<double>(draws.size()) - 1;
  const auto excess = [&](double scatter) {
    const double mean = weighted_mean(draws, scatter).value;
    double squares = 0;
    for (const Mean& draw : draws) {
      const double distance = draw.value - mean;
      squares += distance * distance / (draw.variance + scatter);
    }
    return squares - degrees_of_freedom;
  };
  if (degrees_of_freedom < 1 || excess(0) <= 0) return {0, degrees_of_freedom};
  double high = kLeastVariance;
  while (excess(high) > 0) high *= 4;
  std::uintmax_t iterations = 100;
  const auto [from, to] = boost::math::tools::toms748_solve(
      excess, 0.0, high, boost::math::tools::eps_tolerance<double>(20), iterations);
  return {std::midpoint(from, to), degrees_of_freedom};
}

using Rows = std::vector<NullRow>;

double squared(double value) { return value * value; }

double error_of(const NullRow& row) {
  return std::max(row.contrast.standard_error, std::sqrt(kLeastVariance / 10));
}

Rows known_rows(const Rows& rows) {
  Rows known;
  for (const NullRow& row : rows) {
    if (row.contrast.degrees_of_freedom > 0) known.push_back(row);
  }
  return known;
}

std::map<int, Rows> by_group(const Rows& rows) {
  std::map<int, Rows> groups;
  for (const NullRow& row : rows) groups[row.group].push_back(row);
  return groups;
}

double median_effect(const Rows& rows) {
  std::vector<double> effects;
  for (const NullRow& row : rows) effects.push_back(row.contrast.effect);
  return median(std::move(effects));
}

// The location of t with that scatter beside each row's own error, by iteratively reweighted least
// squares, and its variance by the expected information.
Mean location(const Rows& rows, const ScaledT& scatter) {
  const double tails = std::clamp(scatter.degrees_of_freedom, 1.0, 100.0);
  Mean mean{median_effect(rows), 0};
  constexpr int kIterations = 20;
  for (int i = 0; i < kIterations; ++i) {
    double weights = 0, sum = 0, information = 0;
    for (const NullRow& row : rows) {
      const double variance = squared(error_of(row)) + squared(scatter.scale);
      const double distance = row.contrast.effect - mean.value;
      const double weight = (tails + 1) / (tails + distance * distance / variance) / variance;
      weights += weight;
      sum += weight * row.contrast.effect;
      information += (tails + 1) / (tails + 3) / variance;
    }
    mean = {sum / weights, 1 / information};
  }
  return mean;
}

// About their groups' locations. Of n rows that stand for their own location, residuals are smaller
// by (n - 1) / n in variance. A single one says nothing.
std::vector<Residual> residuals_of(const std::map<int, Rows>& groups,
                                   const std::map<int, double>& locations) {
  std::vector<Residual> residuals;
  for (const auto& [group, rows] : groups) {
    const auto count = static_cast<double>(rows.size());
    if (count < 2) continue;
    const double inflation = std::sqrt(count / (count - 1));
    for (const NullRow& row : rows) {
      residuals.push_back(
          {inflation * (row.contrast.effect - locations.at(group)), error_of(row), group});
    }
  }
  return residuals;
}

// Where no group has two rows, all are one group.
Scatter scatter_about(const Rows& rows, double tail) {
  std::map<int, Rows> groups = by_group(rows);
  const bool any_has_two = std::ranges::any_of(
      groups, [](const auto& group) { return group.second.size() > 1; });
  if (!any_has_two) groups = {{0, rows}};
  std::map<int, double> locations;
  for (const auto& [group, own] : groups) locations[group] = median_effect(own);
  const Scatter first(residuals_of(groups, locations), tail);
  for (const auto& [group, own] : groups) locations[group] = location(own, first.of(group)).value;
  return Scatter(residuals_of(groups, locations), tail);
}

}  // namespace

NullDistribution::NullDistribution(const std::vector<NullRow>& rows, std::size_t tests)
    : scatter_(scatter_about(known_rows(rows), smallest_relevant(tests))) {
  std::vector<Mean> shifts;
  for (const auto& [group, own] : by_group(known_rows(rows))) {
    const Mean mean = location(own, scatter_.of(group));
    groups_[group] = {mean.value, mean.variance, std::max(1.0, static_cast<double>(own.size()) - 1)};
    shifts.push_back(mean);
  }
  among_groups_ = scatter_of(shifts);
  const Mean mean = weighted_mean(shifts, among_groups_.variance);
  all_ = {mean.value, mean.variance, std::max(1.0, among_groups_.degrees_of_freedom)};
}

Movement NullDistribution::movement(int group) const {
  const auto found = groups_.find(group);
  const double among = among_groups_.variance;
  const ScaledT scatter = scatter_.of(group);
  if (found == groups_.end()) {
    return {all_.value, {among + all_.variance, all_.degrees_of_freedom}, scatter};
  }
  // The group's own mean and that of all, each by what is known of it: the best linear unbiased
  // prediction.
  const Shift& own = found->second;
  const double to_all = own.variance / (own.variance + among);
  const double variance = (1 - to_all) * own.variance + to_all * to_all * all_.variance;
  return {
      own.value + to_all * (all_.value - own.value), {variance, own.degrees_of_freedom}, scatter};
}

void take_out(const Movement& movement, Contrast& contrast) {
  if (!(contrast.degrees_of_freedom > 0)) return;
  contrast.effect -= movement.shift;
  add_variance(movement.error, contrast);
  contrast.scatter = movement.scatter;
}

}  // namespace fusegate::baselines
