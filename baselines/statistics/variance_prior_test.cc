#include "baselines/statistics/variance_prior.h"

#include <gtest/gtest.h>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace fusegate::baselines {
namespace {

using boost::math::digamma;
using boost::math::trigamma;

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

// Without a trend all have one prior.
VarianceEstimate fit_variance_prior(const std::vector<VarianceEstimate>& estimates) {
  if (estimates.empty()) return {};
  return fit_variance_priors(estimates, std::vector<double>(estimates.size())).front();
}

// By halving, not by Newton's method.
double slow_trigamma_inverse(double x) {
  double low = 1e-6;
  double high = 1e6;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (trigamma(middle) > x ? low : high) = middle;
  }
  return low;
}

TEST(TrigammaInverse, InvertsTrigamma) {
  EXPECT_NEAR(trigamma_inverse(std::numbers::pi * std::numbers::pi / 6), 1, 1e-9);
  for (const double y : {0.01, 0.3, 0.5, 1.7, 12.0, 300.0}) {
    EXPECT_NEAR(trigamma_inverse(trigamma(y)) / y, 1, 1e-8) << y;
  }
}

TEST(TrigammaInverse, LimitsOnBothEnds) {
  EXPECT_NEAR(trigamma_inverse(1e8) * 1e4, 1, 1e-3);   // trigamma(y) -> 1 / y^2
  EXPECT_NEAR(trigamma_inverse(1e-8) / 1e8, 1, 1e-6);  // trigamma(y) -> 1 / y
  // No jump where the series takes over from Newton's method.
  EXPECT_NEAR(trigamma_inverse(1.001e7) / trigamma_inverse(0.999e7), 1, 2e-3);
}

// Smyth 2004, equations of section 6.2, by halving.
TEST(FitVariancePrior, AgreesWithASlowReference) {
  const std::vector<VarianceEstimate> estimates{{0.02, 2}, {1.5, 4}, {0.3, 4}, {7, 2}, {0.004, 6}};
  double center = 0;
  double trigammas = 0;
  std::vector<double> e;
  for (const auto& [variance, d] : estimates) {
    e.push_back(std::log(variance) - digamma(d / 2) + std::log(d / 2));
    center += e.back() / 5;
    trigammas += trigamma(d / 2) / 5;
  }
  double dispersion = 0;
  for (const double value : e) dispersion += (value - center) * (value - center) / 4;
  const double half = slow_trigamma_inverse(dispersion - trigammas);
  // Five estimates hold the mean of e, each by a fifth.
  const double known = slow_trigamma_inverse(dispersion - trigammas + dispersion / 5);

  const VarianceEstimate prior = fit_variance_prior(estimates);
  EXPECT_NEAR(prior.degrees_of_freedom / (2 * known), 1, 1e-4);
  EXPECT_NEAR(prior.variance / std::exp(center + digamma(half) - std::log(half)), 1, 1e-4);
}

TEST(FitVariancePrior, KnowsNoMoreThanWasMeasuredWhereVariancesDifferByChanceOnly) {
  const VarianceEstimate prior = fit_variance_prior({{1, 4}, {1.2, 4}, {0.9, 2}, {1.1, 4}});
  EXPECT_LT(prior.degrees_of_freedom, 14);
  EXPECT_GT(prior.degrees_of_freedom, 7);
  EXPECT_DOUBLE_EQ(prior.variance, (4 + 4.8 + 1.8 + 4.4) / 14);
}

TEST(FitVariancePrior, TakesThreeEstimates) {
  EXPECT_EQ(fit_variance_prior({}).degrees_of_freedom, 0);
  EXPECT_EQ(fit_variance_prior({{1, 4}, {2, 4}}).degrees_of_freedom, 0);
  EXPECT_GT(fit_variance_prior({{1, 4}, {2, 4}, {3, 4}}).degrees_of_freedom, 0);
}

TEST(FitVariancePrior, LeavesOutWhatSaysNothing) {
  const std::vector<VarianceEstimate> three{{0.02, 2}, {1.5, 4}, {7, 2}};
  std::vector<VarianceEstimate> more = three;
  more.push_back({5, 0});
  more.push_back({0, 4});
  EXPECT_EQ(fit_variance_prior(more).variance, fit_variance_prior(three).variance);
  EXPECT_EQ(fit_variance_prior({{5, 0}, {5, 0}, {5, 0}}).degrees_of_freedom, 0);
}

// Variances that fall by a factor of 16 from the shortest kernel to the longest, and by no more
// than chance about that.
std::vector<VarianceEstimate> falling_variances(std::vector<double>& covariates, int count) {
  std::mt19937 random(7);
  std::chi_squared_distribution<double> chi(4);
  std::vector<VarianceEstimate> estimates;
  for (int i = 0; i < count; ++i) {
    const double x = i / (count - 1.0);
    covariates.push_back(10 + 3 * x);
    estimates.push_back({std::pow(16, -x) * chi(random) / 4, 4});
  }
  return estimates;
}

TEST(FitVariancePriors, FollowTheTrend) {
  std::vector<double> x;
  const auto estimates = falling_variances(x, 2000);
  const auto priors = fit_variance_priors(estimates, x);
  for (std::size_t i = 0; i < priors.size(); ++i) {
    EXPECT_NEAR(std::log(priors[i].variance), -std::log(16) * (x[i] - 10) / 3, 0.15);
    // Without the trend, the spread of log variances about one level is some 0.8.
    EXPECT_GT(priors[i].degrees_of_freedom, 50);
  }
  const auto flat = fit_variance_prior(estimates);
  EXPECT_LT(flat.degrees_of_freedom, 5);
}

TEST(FitVariancePriors, OneWithoutItsOwnVarianceGetsThatOfItsPlaceOnTheTrend) {
  std::vector<double> x;
  auto estimates = falling_variances(x, 40);
  estimates.push_back({});
  x.push_back(11.5);
  const auto priors = fit_variance_priors(estimates, x);
  EXPECT_NEAR(std::log(priors.back().variance / 0.25), 0, 0.4);
  // Beyond what was seen the trend goes on level.
  x.back() = 1000;
  EXPECT_DOUBLE_EQ(fit_variance_priors(estimates, x).back().variance, priors[39].variance);
}

TEST(FitVariancePriors, KnowLessWhereASingleEstimateHoldsTheTrend) {
  std::vector<double> x;
  auto estimates = falling_variances(x, 40);
  estimates.push_back({1e-6, 4});
  x.push_back(30);  // far from all others, so the trend goes where this one has it
  const auto priors = fit_variance_priors(estimates, x);
  EXPECT_LT(priors.back().degrees_of_freedom, 0.4 * priors[20].degrees_of_freedom);
}

TEST(FitVariancePriors, FewBenchmarksHaveNoTrend) {
  const std::vector<VarianceEstimate> five{{1, 4}, {2, 4}, {9, 4}, {30, 4}, {100, 4}};
  const auto priors = fit_variance_priors(five, {1, 2, 3, 4, 5});
  EXPECT_EQ(priors.front().variance, priors.back().variance);
  auto six = five;
  six.push_back({300, 4});
  const auto trended = fit_variance_priors(six, {1, 2, 3, 4, 5, 6});
  EXPECT_LT(trended.front().variance, trended.back().variance / 20);
}

TEST(Moderate, WeighsByDegreesOfFreedom) {
  const VarianceEstimate posterior = moderate({4, 2}, {1, 6});
  EXPECT_DOUBLE_EQ(posterior.variance, (2 * 4 + 6 * 1) / 8.0);
  EXPECT_EQ(posterior.degrees_of_freedom, 8);
  // The ends are the one or the other.
  EXPECT_EQ(moderate({4, 2}, {1, kNoEnd}).variance, 1);
  EXPECT_EQ(moderate({4, 2}, {}).variance, 4);
  EXPECT_EQ(moderate({4, 2}, {}).degrees_of_freedom, 2);
  EXPECT_EQ(moderate({0, 0}, {1, 6}).variance, 1);
  EXPECT_EQ(moderate({0, 0}, {1, 6}).degrees_of_freedom, 6);
  EXPECT_EQ(moderate({}, {}).degrees_of_freedom, 0);
}

}  // namespace
}  // namespace fusegate::baselines
