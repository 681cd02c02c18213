#include "baselines/statistics/moderated_contrasts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fusegate::baselines {
namespace {

std::vector<Contrast> contrasts_of(const std::vector<TwoSides>& suite) {
  std::vector<Contrast> contrasts;
  for (const auto& moderated : moderated_contrasts(suite)) contrasts.push_back(moderated.contrast);
  return contrasts;
}

TwoSides sides(std::vector<double> baseline, std::vector<double> candidate) {
  return {{std::move(baseline)}, {std::move(candidate)}};
}

TEST(ModeratedContrasts, OneBenchmarkIsAPlainTwoSampleT) {
  const auto contrast = contrasts_of({sides({1.0, 3.0}, {4.0, 6.0, 8.0})}).at(0);
  EXPECT_DOUBLE_EQ(contrast.effect, 4);
  EXPECT_DOUBLE_EQ(contrast.standard_error, std::sqrt((2.0 + 8.0) / 3 * (1.0 / 2 + 1.0 / 3)));
  EXPECT_EQ(contrast.degrees_of_freedom, 3);
}

TEST(ModeratedContrasts, ASuiteModeratesEachVariance) {
  const std::vector<TwoSides> suite{sides({0, 1}, {0, 1}), sides({0, 10}, {0, 10}),
                                    sides({0, 0.1}, {0, 0.1}), sides({0, 3}, {0, 3})};
  const std::vector<VarianceEstimate> own{{0.5, 2}, {50, 2}, {0.005, 2}, {4.5, 2}};
  const VarianceEstimate prior = fit_variance_priors(own, {0, 0, 0, 0}).front();
  ASSERT_GT(prior.degrees_of_freedom, 0);
  const auto contrasts = contrasts_of(suite);
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const VarianceEstimate posterior = moderate(own[i], prior);
    EXPECT_NEAR(contrasts[i].standard_error, std::sqrt(posterior.variance), 1e-12);
    EXPECT_DOUBLE_EQ(contrasts[i].degrees_of_freedom, 2 + prior.degrees_of_freedom);
  }
}

TEST(ModeratedContrasts, KnowNoMoreThanWasMeasured) {
  // Equal variances differ by no more than chance, but eight degrees of freedom were measured in
  // all.
  const std::vector<TwoSides> suite(4, sides({0, 1}, {0, 1}));
  for (const Contrast& contrast : contrasts_of(suite)) {
    EXPECT_LT(contrast.degrees_of_freedom, 8);
    EXPECT_GT(contrast.degrees_of_freedom, 6);
  }
}

TEST(ModeratedContrasts, IdenticalValuesKeepTheResolutionOfTheFile) {
  const auto contrast = contrasts_of({sides({2, 2, 2}, {2, 2, 2})}).at(0);
  EXPECT_DOUBLE_EQ(contrast.standard_error, 3e-5 * std::sqrt(2.0 / 3));
}

TEST(ModeratedContrasts, ASingleProcessASideBorrowsTheSuitesNoise) {
  std::vector<TwoSides> suite(3, sides({0, 1}, {0, 1}));
  suite.push_back(sides({5}, {6}));
  const auto contrasts = contrasts_of(suite);
  EXPECT_DOUBLE_EQ(contrasts[3].standard_error, std::sqrt(0.5 * 2));
  // That of the other three, but for their own two each.
  EXPECT_NEAR(contrasts[3].degrees_of_freedom, contrasts[0].degrees_of_freedom - 2, 1e-9);
}

TEST(ModeratedContrasts, NothingIsKnownWithOneProcessASideThroughout) {
  for (const Contrast& contrast : contrasts_of(std::vector<TwoSides>(3, sides({1}, {2})))) {
    EXPECT_EQ(contrast.effect, 1);
    EXPECT_EQ(contrast.degrees_of_freedom, 0);
  }
}

// Five blocks of a value a side each; blocks move all benchmarks' values alike, by so many times what
// values differ by within them.
std::vector<TwoSides> suite_in_blocks(int benchmarks, double blocks_move, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<TwoSides> suite(static_cast<std::size_t>(benchmarks));
  for (int block = 0; block < 5; ++block) {
    const double moved = blocks_move * normal(random);
    for (TwoSides& own : suite) {
      for (SideValues* side : {&own.baseline, &own.candidate}) {
        side->values.push_back(moved + normal(random));
        side->blocks.push_back(block);
      }
    }
  }
  return suite;
}

std::vector<TwoSides> without_blocks(std::vector<TwoSides> suite) {
  for (TwoSides& own : suite) own.baseline.blocks = own.candidate.blocks = {};
  return suite;
}

double median_error(const std::vector<TwoSides>& suite) {
  std::vector<double> errors;
  for (const Contrast& contrast : contrasts_of(suite)) errors.push_back(contrast.standard_error);
  return median(errors);
}

TEST(ModeratedContrasts, PairWhereBlocksMoveTheValues) {
  const std::vector<TwoSides> suite = suite_in_blocks(60, 2);
  EXPECT_NEAR(median_error(suite), std::sqrt(2.0 / 5), 0.1);
  EXPECT_GT(median_error(without_blocks(suite)), 1.2);
}

TEST(ModeratedContrasts, KeepTheirDegreesOfFreedomWhereNoBlockMovesThem) {
  const std::vector<TwoSides> suite = suite_in_blocks(60, 0);
  const auto contrasts = contrasts_of(suite);
  const auto unpaired = contrasts_of(without_blocks(suite));
  for (std::size_t i = 0; i < suite.size(); ++i) {
    EXPECT_EQ(contrasts[i].degrees_of_freedom, unpaired[i].degrees_of_freedom);
    EXPECT_EQ(contrasts[i].standard_error, unpaired[i].standard_error);
  }
}

TEST(ModeratedContrasts, PairWhereTooFewShowThatNoBlockMovesThem) {
  EXPECT_EQ(contrasts_of(suite_in_blocks(1, 0)).front().degrees_of_freedom, 4);
}

// Unpaired, blocks that move a benchmark make its error larger and never smaller than it is.
TEST(ModeratedContrasts, CallAsSeldomAsPromisedWhicheverDesignTheyChoose) {
  constexpr double kLevel = 0.01;
  for (const double blocks_move : {0.0, 0.3, 0.5, 2.0}) {
    int called = 0;
    int all = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
      for (const Contrast& contrast : contrasts_of(suite_in_blocks(60, blocks_move, seed))) {
        called += p_above(contrast, 0) <= kLevel;
        ++all;
      }
    }
    EXPECT_LE(called, 1.25 * kLevel * all) << blocks_move;
    EXPECT_GE(called, 0.6 * kLevel * all) << blocks_move;
  }
}

TEST(ModeratedContrasts, OfNoBenchmarkAreNone) { EXPECT_TRUE(moderated_contrasts({}).empty()); }

}  // namespace
}  // namespace fusegate::baselines
