#include "baselines/statistics/null_distribution.h"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace fusegate::baselines {
namespace {

// Scatter below it is none (moderated_contrasts.cc).
constexpr double kLeastVariance = 3e-5 * 3e-5;

// Values that are known with a variance each, as draws from one distribution.
struct Known {
  std::vector<double> values;
  std::vector<double> variances;
};

struct Mean {
  double value = 0;
  double variance = 0;
};

Mean weighted_mean(const Known& known, double scatter) {
  double weights = 0;
  double sum = 0;
  for (std::size_t i = 0; i < known.values.size(); ++i) {
    const double weight = 1 / (known.variances[i] + scatter);
    weights += weight;
    sum += weight * known.values[i];
  }
  return {sum / weights, 1 / weights};
}

// The scatter with which the weighted squares about the mean are what chance makes them, n - 1.
VarianceEstimate scatter_of(const Known& known) {
  const double degrees_of_freedom = static_cast<double>(known.values.size()) - 1;
  const auto excess = [&](double scatter) {
    const double mean = weighted_mean(known, scatter).value;
    double squares = 0;
    for (std::size_t i = 0; i < known.values.size(); ++i) {
      const double distance = known.values[i] - mean;
      squares += distance * distance / (known.variances[i] + scatter);
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

VarianceEstimate pooled(const std::vector<VarianceEstimate>& estimates) {
  VarianceEstimate sum;
  for (const VarianceEstimate& one : estimates) {
    sum.variance += one.variance * one.degrees_of_freedom;
    sum.degrees_of_freedom += one.degrees_of_freedom;
  }
  if (sum.degrees_of_freedom > 0) sum.variance /= sum.degrees_of_freedom;
  return sum;
}

// How far to trust what all groups scatter by, in degrees of freedom: no further than it is known.
double prior_degrees_of_freedom(std::vector<VarianceEstimate> estimates, double most) {
  for (VarianceEstimate& one : estimates) one.variance = std::max(one.variance, kLeastVariance);
  const std::vector<double> no_trend(estimates.size());
  return std::min(fit_variance_priors(estimates, no_trend).front().degrees_of_freedom, most);
}

}  // namespace

NullDistribution::NullDistribution(const std::vector<NullRow>& rows) {
  std::map<int, Known> by_group;
  Known all;
  for (const auto& [contrast, group] : rows) {
    if (!(contrast.degrees_of_freedom > 0)) continue;
    for (Known* known : {&by_group[group], &all}) {
      known->values.push_back(contrast.effect);
      known->variances.push_back(
          std::max(contrast.standard_error * contrast.standard_error, kLeastVariance / 10));
    }
  }
  std::vector<VarianceEstimate> own;
  for (const auto& [group, known] : by_group) own.push_back(scatter_of(known));
  rows_ = pooled(own);
  double prior = prior_degrees_of_freedom(own, rows_.degrees_of_freedom);
  if (rows_.degrees_of_freedom == 0) {  // one row a group
    rows_ = scatter_of(all);
    prior = rows_.degrees_of_freedom;
  }
  Known shifts;
  std::size_t i = 0;
  for (const auto& [group, known] : by_group) {
    const VarianceEstimate& of_group = own[i++];
    Group& result = groups_[group];
    result.scatter = moderate(of_group, {rows_.variance, prior});
    if (!(result.scatter.degrees_of_freedom > 0)) result.scatter = {rows_.variance, 1};
    const Mean mean = weighted_mean(known, result.scatter.variance);
    shifts.values.push_back(result.shift = mean.value);
    shifts.variances.push_back(result.shift_variance = mean.variance);
  }
  all_.scatter = scatter_of(shifts);
  const Mean mean = weighted_mean(shifts, all_.scatter.variance);
  all_.shift = mean.value;
  all_.shift_variance = mean.variance;
  rows_.degrees_of_freedom = std::max(1.0, std::min(prior, all_.scatter.degrees_of_freedom));
}

Movement NullDistribution::movement(int group) const {
  const auto found = groups_.find(group);
  const double among_groups = all_.scatter.variance;
  if (found == groups_.end()) {
    return {all_.shift,
            {rows_.variance + among_groups + all_.shift_variance, rows_.degrees_of_freedom}};
  }
  // The group's own mean and that of all, each by what is known of it: the best linear unbiased
  // prediction.
  const Group& own = found->second;
  const double to_all = own.shift_variance / (own.shift_variance + among_groups);
  const double shift = own.shift + to_all * (all_.shift - own.shift);
  const double variance = (1 - to_all) * own.shift_variance + to_all * to_all * all_.shift_variance;
  return {shift, {own.scatter.variance + variance, own.scatter.degrees_of_freedom}};
}

void take_out(const Movement& movement, Contrast& contrast) {
  if (!(contrast.degrees_of_freedom > 0)) return;
  contrast.effect -= movement.shift;
  add_variance(movement.variance, contrast);
}

}  // namespace fusegate::baselines
