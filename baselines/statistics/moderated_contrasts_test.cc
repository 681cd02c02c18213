#include "baselines/statistics/moderated_contrasts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::baselines {
namespace {

std::vector<Contrast> contrasts_of(const std::vector<TwoSides>& suite) {
  std::vector<Contrast> contrasts;
  for (const auto& moderated : moderated_contrasts(suite)) contrasts.push_back(moderated.contrast);
  return contrasts;
}

TwoSides sides(std::vector<double> baseline, std::vector<double> candidate) {
  TwoSides result;
  result.baseline = std::move(baseline);
  result.candidate = std::move(candidate);
  return result;
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

TEST(ModeratedContrasts, ASingleInvocationASideBorrowsTheSuitesNoise) {
  std::vector<TwoSides> suite(3, sides({0, 1}, {0, 1}));
  suite.push_back(sides({5}, {6}));
  const auto contrasts = contrasts_of(suite);
  EXPECT_DOUBLE_EQ(contrasts[3].standard_error, std::sqrt(0.5 * 2));
  // That of the other three, but for their own two each.
  EXPECT_NEAR(contrasts[3].degrees_of_freedom, contrasts[0].degrees_of_freedom - 2, 1e-9);
}

TEST(ModeratedContrasts, NothingIsKnownWithOneInvocationASideThroughout) {
  for (const Contrast& contrast : contrasts_of(std::vector<TwoSides>(3, sides({1}, {2})))) {
    EXPECT_EQ(contrast.effect, 1);
    EXPECT_EQ(contrast.degrees_of_freedom, 0);
  }
}

TEST(ModeratedContrasts, OfNoBenchmarkAreNone) { EXPECT_TRUE(moderated_contrasts({}).empty()); }

}  // namespace
}  // namespace fusegate::baselines
