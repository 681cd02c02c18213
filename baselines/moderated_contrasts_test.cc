#include "baselines/moderated_contrasts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fusegate {
namespace {

TEST(ModeratedContrasts, OneBenchmarkIsAPlainTwoSampleT) {
  const auto contrast = moderated_contrasts({{{1.0, 3.0}, {4.0, 6.0, 8.0}}}).at(0);
  EXPECT_DOUBLE_EQ(contrast.effect, 4);
  EXPECT_DOUBLE_EQ(contrast.standard_error, std::sqrt((2.0 + 8.0) / 3 * (1.0 / 2 + 1.0 / 3)));
  EXPECT_EQ(contrast.degrees_of_freedom, 3);
}

TEST(ModeratedContrasts, ASuiteModeratesEachVariance) {
  const std::vector<TwoSides> suite{
      {{0, 1}, {0, 1}}, {{0, 10}, {0, 10}}, {{0, 0.1}, {0, 0.1}}, {{0, 3}, {0, 3}}};
  const std::vector<VarianceEstimate> own{{0.5, 2}, {50, 2}, {0.005, 2}, {4.5, 2}};
  const VarianceEstimate prior = fit_variance_prior(own);
  ASSERT_GT(prior.degrees_of_freedom, 0);
  const auto contrasts = moderated_contrasts(suite);
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const VarianceEstimate posterior = moderate(own[i], prior);
    EXPECT_NEAR(contrasts[i].standard_error, std::sqrt(posterior.variance), 1e-12);
    EXPECT_DOUBLE_EQ(contrasts[i].degrees_of_freedom, 2 + prior.degrees_of_freedom);
  }
}

TEST(ModeratedContrasts, KnowNoMoreThanWasMeasured) {
  // Equal variances make the prior certain, but eight degrees of freedom were measured in all.
  const auto contrasts =
      moderated_contrasts({{{0, 1}, {0, 1}}, {{0, 1}, {0, 1}}, {{0, 1}, {0, 1}}, {{0, 1}, {0, 1}}});
  for (const Contrast& contrast : contrasts) EXPECT_EQ(contrast.degrees_of_freedom, 8);
}

TEST(ModeratedContrasts, IdenticalValuesKeepTheResolutionOfTheFile) {
  const auto contrast = moderated_contrasts({{{2, 2, 2}, {2, 2, 2}}}).at(0);
  EXPECT_DOUBLE_EQ(contrast.standard_error, 3e-5 * std::sqrt(2.0 / 3));
}

TEST(ModeratedContrasts, ASingleInvocationASideBorrowsTheSuitesNoise) {
  const auto contrasts =
      moderated_contrasts({{{0, 1}, {0, 1}}, {{0, 1}, {0, 1}}, {{0, 1}, {0, 1}}, {{5}, {6}}});
  EXPECT_DOUBLE_EQ(contrasts[3].standard_error, std::sqrt(0.5 * 2));
  EXPECT_EQ(contrasts[3].degrees_of_freedom, 6);
}

TEST(ModeratedContrasts, NothingIsKnownWithOneInvocationASideThroughout) {
  for (const Contrast& contrast : moderated_contrasts({{{1}, {2}}, {{1}, {2}}, {{1}, {2}}})) {
    EXPECT_EQ(contrast.effect, 1);
    EXPECT_EQ(contrast.degrees_of_freedom, 0);
  }
}

TEST(ModeratedContrasts, OfNoBenchmarkAreNone) { EXPECT_TRUE(moderated_contrasts({}).empty()); }

}  // namespace
}  // namespace fusegate
