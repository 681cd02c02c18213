#include "baselines/variance_prior.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <iterator>
#include <limits>

namespace fusegate {
namespace {

// Two variances give one degree of freedom for their own dispersion, which says nothing; with two
// benchmarks each keeps its own variance.
constexpr std::size_t kFewestEstimates = 3;

// The scale where the variances do not differ by more than chance: one variance for all, whose
// maximum likelihood estimate is the pooled one. (Smyth's limit exp(mean e) is larger for few
// degrees of freedom; limma takes the pooled one too, since 2017.)
double common_variance(const std::vector<VarianceEstimate>& estimates) {
  double squares = 0;
  double degrees_of_freedom = 0;
  for (const VarianceEstimate& estimate : estimates) {
    squares += estimate.variance * estimate.degrees_of_freedom;
    degrees_of_freedom += estimate.degrees_of_freedom;
  }
  return squares / degrees_of_freedom;
}

bool usable(const VarianceEstimate& estimate) {
  return estimate.degrees_of_freedom > 0 && std::isfinite(estimate.degrees_of_freedom) &&
         estimate.variance > 0 && std::isfinite(estimate.variance);
}

}  // namespace

double trigamma_inverse(double x) {
  // Outside of these the first terms of trigamma's series are exact in double precision.
  if (x > 1e7) return 1 / std::sqrt(x);
  if (x < 1e-6) return 1 / x;
  double y = 0.5 + 1 / x;
  // Converges from this start for every x, monotonically from the left; 50 is far beyond the five
  // or six steps it takes (Smyth 2004, appendix).
  for (int i = 0; i < 50; ++i) {
    const double value = boost::math::trigamma(y);
    const double step = value * (1 - value / x) / boost::math::polygamma(2, y);
    y += step;
    if (-step / y < 1e-10) break;
  }
  return y;
}

VarianceEstimate fit_variance_prior(const std::vector<VarianceEstimate>& estimates) {
  std::vector<VarianceEstimate> used;
  std::ranges::copy_if(estimates, std::back_inserter(used), usable);
  if (used.size() < kFewestEstimates) return {};

  const double count = static_cast<double>(used.size());
  std::vector<double> e;
  double expected_dispersion = 0;  // of e, were all true variances the same
  for (const auto& [variance, degrees_of_freedom] : used) {
    const double half = degrees_of_freedom / 2;
    e.push_back(std::log(variance) - boost::math::digamma(half) + std::log(half));
    expected_dispersion += boost::math::trigamma(half) / count;
  }
  double center = 0;
  for (const double value : e) center += value / count;
  double dispersion = 0;
  for (const double value : e) dispersion += (value - center) * (value - center) / (count - 1);

  const double excess = dispersion - expected_dispersion;
  if (excess <= 0) return {common_variance(used), std::numeric_limits<double>::infinity()};
  const double half = trigamma_inverse(excess);
  return {std::exp(center + boost::math::digamma(half) - std::log(half)), 2 * half};
}

VarianceEstimate moderate(const VarianceEstimate& own, const VarianceEstimate& prior) {
  if (std::isinf(prior.degrees_of_freedom)) return prior;
  if (std::isinf(own.degrees_of_freedom)) return own;
  const double total = own.degrees_of_freedom + prior.degrees_of_freedom;
  if (total == 0) return {};
  return {
      (own.degrees_of_freedom * own.variance + prior.degrees_of_freedom * prior.variance) / total,
      total};
}

}  // namespace fusegate
