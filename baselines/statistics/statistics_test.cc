#include "baselines/statistics/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace fusegate::baselines {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Median, OfOddEvenAndNoValues) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({1.7e308, 1.7e308}), 1.7e308) << "though their sum is more than a double holds";
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0.9), 10);
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.9), 1.9);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(FastHalf, IsTheMeanBetweenTwoQuantiles) {
  // Twenty values: the first is left out, then come nine.
  std::vector<double> values;
  for (int i = 20; i >= 1; --i) values.push_back(i);
  EXPECT_DOUBLE_EQ(fast_half(values), 6);
  // Ten: half of the first, and all up to the fifth.
  EXPECT_DOUBLE_EQ(fast_half({10, 9, 8, 7, 6, 5, 4, 3, 2, 1}), (0.5 * 1 + 2 + 3 + 4 + 5) / 4.5);
}

TEST(FastHalf, OfFewValuesIsTheFastest) {
  EXPECT_DOUBLE_EQ(fast_half({7}), 7);
  EXPECT_DOUBLE_EQ(fast_half({9, 7}), 7);
  EXPECT_TRUE(std::isnan(fast_half({})));
}

TEST(FastHalf, DoesNotSeeWhatOnlyAddsTime) {
  std::vector<double> quiet;
  for (int i = 0; i < 60; ++i) quiet.push_back(100 + 0.01 * i);
  std::vector<double> disturbed = quiet;
  for (std::size_t i = 30; i < 60; ++i) disturbed[i] *= 1.5;
  EXPECT_DOUBLE_EQ(fast_half(disturbed), fast_half(quiet));
  // A slower kernel is slower everywhere.
  for (double& value : disturbed) value *= 1.01;
  EXPECT_DOUBLE_EQ(fast_half(disturbed), 1.01 * fast_half(quiet));
}

TEST(MedianAbsoluteDeviation, IsTheMedianDistance) {
  // The usual textbook example: median 2, distances 1 1 0 0 2 4 7.
  EXPECT_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(median_absolute_deviation({5, 5, 5}), 0);
}

TEST(PooledVariance, TakesEachGroupAboutItsOwnMean) {
  const std::vector<double> a{1, 2, 3}, b{10, 14}, single{1};
  const VarianceEstimate pooled = pooled_variance({a, b, single});
  EXPECT_DOUBLE_EQ(pooled.variance, (2.0 + 8.0) / 3);
  EXPECT_EQ(pooled.degrees_of_freedom, 3);
  EXPECT_EQ(pooled_variance({single, single}).degrees_of_freedom, 0);
  EXPECT_EQ(pooled_variance({}).variance, 0);
}

// Quantiles from the tables of Student's t: P(T > t) = 0.05, 0.005 and 0.025.
TEST(PAbove, AgreesWithTheTablesOfT) {
  EXPECT_NEAR(p_above({2.919986, 1, 2}, 0), 0.05, 1e-7);
  EXPECT_NEAR(p_above({9.924843, 1, 2}, 0), 0.005, 1e-7);
  EXPECT_NEAR(p_above({2.228139, 1, 10}, 0), 0.025, 1e-7);
  EXPECT_NEAR(p_above({1.644854, 1, kInfinity}, 0), 0.05, 1e-7);
}

TEST(PAbove, MeasuresFromTheThreshold) {
  EXPECT_DOUBLE_EQ(p_above({0.5, 2, 3}, 0.5), 0.5);
  EXPECT_NEAR(p_above({3.5, 0.5, 2}, 3.5 - 0.5 * 2.919986), 0.05, 1e-7);
  EXPECT_GT(p_above({-3, 1, 10}, 0), 0.99);
}

TEST(ConfidenceInterval, IsSymmetricAboutTheEffect) {
  const Interval interval = confidence_interval({1, 0.5, 10}, 0.95);
  EXPECT_NEAR(interval.low, 1 - 0.5 * 2.228139, 1e-6);
  EXPECT_NEAR(interval.high, 1 + 0.5 * 2.228139, 1e-6);
  EXPECT_NEAR(confidence_interval({0, 1, kInfinity}, 0.95).high, 1.959964, 1e-6);
}

TEST(Contrast, WithoutDegreesOfFreedomSaysNothing) {
  Contrast unknown{1, 1, 0};
  EXPECT_EQ(p_above({100, 1, 0}, 0), 1);
  EXPECT_EQ(confidence_interval(unknown, 0.95).low, -kInfinity);
  EXPECT_EQ(confidence_interval(unknown, 0.95).high, kInfinity);
  EXPECT_EQ(upper_bound(unknown, 0.05), kInfinity);
  add_variance({16, 4}, unknown);
  EXPECT_EQ(unknown.degrees_of_freedom, 0);
}

TEST(BenjaminiHochberg, KeepsTheInputsOrder) {
  EXPECT_THAT(benjamini_hochberg({0.04, 0.01, 0.03}),
              Pointwise(DoubleNear(1e-12), {0.04, 0.03, 0.04}));
  EXPECT_THAT(benjamini_hochberg({}), ElementsAre());
  EXPECT_THAT(benjamini_hochberg({0.5}), ElementsAre(0.5));
}

// By the procedure's own words: the largest k with p(k) <= k q / m, and all up to it.
bool rejects_by_definition(const std::vector<double>& p, std::size_t i, double rate) {
  std::vector<double> sorted = p;
  std::ranges::sort(sorted);
  double largest_rejected = -1;
  for (std::size_t k = 1; k <= sorted.size(); ++k) {
    const double bound = static_cast<double>(k) * rate / static_cast<double>(sorted.size());
    if (sorted[k - 1] <= bound) largest_rejected = sorted[k - 1];
  }
  return p[i] <= largest_rejected;
}

TEST(BenjaminiHochberg, AgreesWithTheStepUpProcedure) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform;
  for (int round = 0; round < 200; ++round) {
    std::vector<double> p(1 + random() % 20);
    for (double& value : p) value = std::pow(uniform(random), 3);
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (const double rate : {0.01, 0.05, 0.2}) {
      for (std::size_t i = 0; i < p.size(); ++i) {
        EXPECT_EQ(adjusted[i] <= rate, rejects_by_definition(p, i, rate));
      }
    }
  }
}

double simulated_power(double degrees_of_freedom, double level, double noncentrality) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal(noncentrality, 1);
  std::chi_squared_distribution<double> chi_squared(degrees_of_freedom);
  constexpr int kRounds = 100'000;
  int found = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double error = std::sqrt(chi_squared(random) / degrees_of_freedom);
    found += p_above({normal(random), error, degrees_of_freedom}, 0) <= level;
  }
  return static_cast<double>(found) / kRounds;
}

TEST(DetectableNoncentrality, HasThePowerItPromises) {
  for (const double degrees_of_freedom : {1.0, 2.5, 8.0, 40.0}) {
    const double noncentrality = detectable_noncentrality(degrees_of_freedom, 0.01, 0.9);
    EXPECT_NEAR(simulated_power(degrees_of_freedom, 0.01, noncentrality), 0.9, 0.004)
        << degrees_of_freedom;
  }
}

TEST(DetectableNoncentrality, HasNoJumps) {
  // Of a normal it is the sum of two quantiles.
  EXPECT_NEAR(detectable_noncentrality(kInfinity, 0.01, 0.9), 2.326348 + 1.281552, 1e-6);
  EXPECT_NEAR(detectable_noncentrality(1e5, 0.01, 0.9), 2.326348 + 1.281552, 1e-3);
  // Where the shortcut for huge quantiles begins: with one degree of freedom t at `level` is
  // cot(pi level).
  const auto per_quantile = [](double t) {
    return detectable_noncentrality(1, std::atan(1 / t) / std::numbers::pi, 0.9) / t;
  };
  EXPECT_NEAR(per_quantile(50.1) / per_quantile(49.9), 1, 5e-4);
  EXPECT_TRUE(std::isfinite(detectable_noncentrality(0.3, 0.001, 0.9)));
  EXPECT_GT(detectable_noncentrality(0.5, 1e-4, 0.9), detectable_noncentrality(1, 1e-4, 0.9));
  EXPECT_EQ(detectable_noncentrality(0, 0.01, 0.9), kInfinity);
}

TEST(AddVariance, AddsAsSatterthwaiteHasIt) {
  Contrast contrast{0.01, 3, 8};
  add_variance({16, 4}, contrast);
  EXPECT_DOUBLE_EQ(contrast.standard_error, 5);
  // (9 + 16)^2 / (9^2 / 8 + 16^2 / 4)
  EXPECT_DOUBLE_EQ(contrast.degrees_of_freedom, 625.0 / (81.0 / 8 + 64));
}

TEST(UpperBound, IsStudentsQuantileAway) {
  EXPECT_NEAR(upper_bound({0.01, 0.002, 10}, 0.05), 0.01 + 0.002 * 1.812461, 1e-8);
  EXPECT_NEAR(upper_bound({0.01, 0.002, 10}, 0.95), 0.01 - 0.002 * 1.812461, 1e-8);
}

// Noise and scatter of one size, both normal: a normal error that is the root of two larger.
TEST(Contrast, AddsItsErrors) {
  const Contrast contrast{0, 0.003, 1e5, {0.003, 1e5}};
  EXPECT_NEAR(error_quantile(contrast, 0.025), 1.96 * std::sqrt(2) * 0.003, 1e-4);
  EXPECT_NEAR(p_above({3 * 0.003, 0.003, 1e5, {0.003, 1e5}}, 0), 0.01695, 1e-3);
}

// Far out one large draw of the heavier tail is what exceeds.
TEST(Contrast, KeepsTheHeavierTail) {
  const Contrast contrast{0, 0.001, 1e5, {0.001, 3}};
  const double alone = error_quantile({0, 0, 1, {0.001, 3}}, 1e-4);
  EXPECT_NEAR(error_quantile(contrast, 1e-4), alone, 0.05 * alone);
  EXPECT_NEAR(p_above({alone, 0.001, 1e5, {0.001, 3}}, 0), 1e-4, 1e-5);
}

TEST(Contrast, PAndQuantileAgree) {
  for (const double p : {0.2, 0.025, 0.01, 1e-4, 1e-6}) {
    Contrast contrast{0, 0.002, 8, {0.0007, 2}};
    contrast.effect = error_quantile(contrast, p);
    EXPECT_NEAR(p_above(contrast, 0) / p, 1, 0.1) << p;
  }
}

TEST(HypergeometricUpperTail, IsFishersExactTest) {
  EXPECT_NEAR(hypergeometric_upper_tail(6, 10, 10, 6), 210.0 / 38760, 1e-12);
  EXPECT_NEAR(hypergeometric_upper_tail(4, 5, 5, 4), 5.0 / 210, 1e-12);
  EXPECT_DOUBLE_EQ(hypergeometric_upper_tail(0, 5, 5, 3), 1);
}

}  // namespace
}  // namespace fusegate::baselines
