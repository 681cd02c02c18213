#include "baselines/statistics/variance_prior.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <iterator>
#include <limits>

#include "baselines/statistics/natural_spline.h"

namespace fusegate::baselines {
namespace {

namespace bm = boost::math;

// Not in long double, for which every call copies a table of 25 KB.
constexpr bm::policies::policy<bm::policies::promote_double<false>> kInDouble;

// Two variances give one degree of freedom for their own dispersion, which says nothing; with two
// benchmarks each keeps its own variance.
constexpr std::size_t kFewestEstimates = 3;

// The coefficients that the trend may have: as limma's fitFDist() spends them, but for suites of
// three to five, which would leave one to three values to estimate the dispersion by.
int trend_parameters(std::size_t estimates) {
  if (estimates < 6) return 1;
  return estimates < 30 ? 3 : 4;
}

bool usable(const VarianceEstimate& estimate) {
  return estimate.degrees_of_freedom > 0 && std::isfinite(estimate.degrees_of_freedom) &&
         estimate.variance > 0 && std::isfinite(estimate.variance);
}

// Of the usable estimates.
struct LogVariances {
  std::vector<double> x;            // covariates
  std::vector<double> e;            // log_variance()
  double dispersion_by_chance = 0;  // of e, were all true variances on the trend
};

LogVariances log_variances(const std::vector<VarianceEstimate>& estimates,
                           const std::vector<double>& covariates) {
  LogVariances logs;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    if (!usable(estimates[i])) continue;
    const LogVariance own = log_variance(estimates[i]);
    logs.x.push_back(covariates[i]);
    logs.e.push_back(own.value);
    logs.dispersion_by_chance += own.variance;
  }
  logs.dispersion_by_chance /= static_cast<double>(logs.e.size());
  return logs;
}

double dispersion(const LogVariances& logs, const NaturalSpline& trend) {
  double squares = 0;
  for (std::size_t i = 0; i < logs.e.size(); ++i) {
    const double distance = logs.e[i] - trend(logs.x[i]);
    squares += distance * distance;
  }
  return squares / (static_cast<double>(logs.e.size()) - trend.parameters());
}

// Where the variances lie on the trend but for chance, the trend's shape stays and its level is the
// maximum likelihood estimate, the pooled one. (Smyth's limit is larger for few degrees of freedom;
// limma takes the pooled one too, since 2017.)
double pooled_level(const std::vector<VarianceEstimate>& estimates,
                    const std::vector<double>& covariates, const NaturalSpline& trend) {
  double squares = 0;
  double degrees_of_freedom = 0;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    if (!usable(estimates[i])) continue;
    squares +=
        estimates[i].degrees_of_freedom * estimates[i].variance / std::exp(trend(covariates[i]));
    degrees_of_freedom += estimates[i].degrees_of_freedom;
  }
  return squares / degrees_of_freedom;
}

}  // namespace

LogVariance log_variance(const VarianceEstimate& estimate) {
  const double half = estimate.degrees_of_freedom / 2;
  return {std::log(estimate.variance) - bm::digamma(half, kInDouble) + std::log(half),
          bm::trigamma(half, kInDouble)};
}

double trigamma_inverse(double x) {
  // Outside of these the first terms of trigamma's series are exact in double precision.
  if (x > 1e7) return 1 / std::sqrt(x);
  if (x < 1e-6) return 1 / x;
  double y = 0.5 + 1 / x;
  // Converges from this start for every x, monotonically from the left; 50 is far beyond the five
  // or six steps it takes (Smyth 2004, appendix).
  for (int i = 0; i < 50; ++i) {
    const double value = bm::trigamma(y, kInDouble);
    const double step = value * (1 - value / x) / bm::polygamma(2, y, kInDouble);
    y += step;
    if (-step / y < 1e-10) break;
  }
  return y;
}

std::vector<VarianceEstimate> fit_variance_priors(const std::vector<VarianceEstimate>& estimates,
                                                  const std::vector<double>& covariates) {
  const LogVariances logs = log_variances(estimates, covariates);
  std::vector<VarianceEstimate> priors(estimates.size());
  if (logs.e.size() < kFewestEstimates) return priors;
  const NaturalSpline trend(logs.x, logs.e, trend_parameters(logs.e.size()));
  const double excess = std::max(0.0, dispersion(logs, trend) - logs.dispersion_by_chance);
  const double half = excess > 0 ? trigamma_inverse(excess) : 0;
  const double level = excess > 0 ? std::exp(bm::digamma(half, kInDouble) - std::log(half))
                                  : pooled_level(estimates, covariates, trend);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const double uncertainty =
        excess + trend.leverage(covariates[i]) * (excess + logs.dispersion_by_chance);
    priors[i] = {level * std::exp(trend(covariates[i])), 2 * trigamma_inverse(uncertainty)};
  }
  return priors;
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

std::vector<VarianceEstimate> moderate_together(const std::vector<VarianceEstimate>& estimates,
                                                const std::vector<double>& covariates) {
  std::vector<VarianceEstimate> result = fit_variance_priors(estimates, covariates);
  std::ranges::transform(estimates, result, result.begin(), moderate);
  return result;
}

}  // namespace fusegate::baselines
