#include "baselines/comparing/family_pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace fusegate::baselines {
namespace {

using testing::DoubleNear;
using testing::Each;

TEST(PoolEffects, OfOneRowIsThatRow) {
  const PooledEffects pooled = pool_effects({{0.03, 0.01}});
  EXPECT_DOUBLE_EQ(pooled.mean.effect, 0.03);
  EXPECT_DOUBLE_EQ(pooled.mean.standard_error, 0.01);
  EXPECT_EQ(pooled.tau_squared, 0);
  EXPECT_EQ(pooled.heterogeneity, 0);
  EXPECT_THAT(pooled.weights, Each(1));
  EXPECT_THAT(pooled.shrunken, Each(DoubleNear(0.03, 1e-15)));
}

TEST(PoolEffects, WhereRowsAgreeWeighsByPrecisionAndShrinksToTheMean) {
  const PooledEffects pooled = pool_effects({{0.01, 0.01}, {0.013, 0.02}});
  EXPECT_EQ(pooled.tau_squared, 0);
  EXPECT_NEAR(pooled.mean.effect, (4 * 0.01 + 0.013) / 5, 1e-15);
  EXPECT_NEAR(pooled.mean.standard_error, std::sqrt(1 / (1e4 + 2500)), 1e-15);
  EXPECT_NEAR(pooled.weights[0], 0.8, 1e-12);
  EXPECT_THAT(pooled.shrunken, Each(DoubleNear(pooled.mean.effect, 1e-15)));
}

// With equal standard errors s the estimating equation has the solution var - s^2, var being the
// rows' sample variance.
TEST(PoolEffects, EqualErrorsGiveTheVarianceInExcess) {
  const std::vector<Estimate> rows{{0.00, 0.01}, {0.03, 0.01}, {0.06, 0.01}};
  const PooledEffects pooled = pool_effects(rows);
  EXPECT_NEAR(pooled.tau_squared, 9e-4 - 1e-4, 1e-12);
  EXPECT_NEAR(pooled.mean.effect, 0.03, 1e-12);
  EXPECT_NEAR(pooled.mean.standard_error, 0.03 / std::sqrt(3), 1e-12);
  EXPECT_NEAR(pooled.heterogeneity, (18.0 - 2) / 18, 1e-12);
  EXPECT_NEAR(pooled.shrunken[0], 0.03 - 0.03 * 8 / 9, 1e-12);
  EXPECT_NEAR(pooled.shrunken[2], 0.03 + 0.03 * 8 / 9, 1e-12);
}

TEST(PoolEffects, SolvesItsEquationWithUnequalErrors) {
  const std::vector<Estimate> rows{{0.00, 0.01}, {0.05, 0.002}, {0.06, 0.03}, {-0.04, 0.004}};
  const PooledEffects pooled = pool_effects(rows);
  double squares = 0;
  for (const Estimate& row : rows) {
    squares += std::pow(row.effect - pooled.mean.effect, 2) /
               (row.standard_error * row.standard_error + pooled.tau_squared);
  }
  EXPECT_NEAR(squares, 3, 1e-9);
  EXPECT_NEAR(std::accumulate(pooled.weights.begin(), pooled.weights.end(), 0.0), 1, 1e-12);
}

TEST(PoolEffects, ShrinksANoisyRowMoreThanASureOne) {
  const PooledEffects pooled =
      pool_effects({{0.00, 0.001}, {0.01, 0.001}, {0.02, 0.001}, {0.05, 0.03}});
  EXPECT_LT(pooled.shrunken[3], 0.02);
  EXPECT_NEAR(pooled.shrunken[2], 0.02, 0.001);
}

// The random effects model itself: tau is found on average, and the interval holds the mean.
TEST(PoolEffects, FindsTauAndCoversTheMean) {
  std::mt19937 random(20261121);
  std::normal_distribution<double> normal;
  constexpr int kFamilies = 2000;
  constexpr double kTau = 0.01;
  double tau_squared_sum = 0;
  int covered = 0;
  for (int family = 0; family < kFamilies; ++family) {
    std::vector<Estimate> rows;
    for (int i = 0; i < 20; ++i) {
      const double error = 0.002 * (1 + i % 5);
      rows.push_back({0.02 + kTau * normal(random) + error * normal(random), error});
    }
    const PooledEffects pooled = pool_effects(rows);
    tau_squared_sum += pooled.tau_squared;
    covered += std::abs(pooled.mean.effect - 0.02) < 1.96 * pooled.mean.standard_error;
  }
  EXPECT_NEAR(tau_squared_sum / kFamilies, kTau * kTau, 0.02 * kTau * kTau);
  EXPECT_GT(covered, 0.92 * kFamilies);
  EXPECT_LT(covered, 0.97 * kFamilies);
}

}  // namespace
}  // namespace fusegate::baselines
