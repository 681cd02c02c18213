#include "ci/claims/ratio.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::ci {
namespace {

TEST(RatioOf, IsOfGeometricMeansWithStudentsInterval) {
  const Ratio ratio = *ratio_of({98, 100, 102}, {49, 50, 51});
  EXPECT_NEAR(ratio.value, 2, 1e-12);
  // Both sides have the same logarithms' deviations; t of 99 % with 4 degrees of freedom is 4.6041.
  const double variance = (std::pow(std::log(98 / 100.0), 2) + std::pow(std::log(102 / 100.0), 2) -
                           std::pow(std::log(98 * 102 / 1e4), 2) / 3) /
                          2;
  const double half = 4.6041 * std::sqrt(variance * 2 / 3);
  EXPECT_NEAR(std::log(ratio.interval.high / 2), half, 1e-5);
  EXPECT_NEAR(std::log(ratio.interval.low / 2), -half, 1e-5);
  EXPECT_EQ(ratio.processes, 3);
}

TEST(RatioOf, IsNothingWithoutOneSideAndTellsNothingByOneProcess) {
  EXPECT_FALSE(ratio_of({}, {1}));
  const Ratio ratio = *ratio_of({1}, {2, 2.1});
  EXPECT_EQ(is_below(ratio, 1), Answer::kUnknown);
  EXPECT_EQ(is_above(ratio, 0.1), Answer::kUnknown);
  EXPECT_NE(ratio_text(ratio).find("one process"), std::string::npos);
}

Ratio between(double low, double high) { return {(low + high) / 2, {low, high}, 5}; }

TEST(Ratio, IsBeyondABoundWhereItsWholeIntervalIs) {
  EXPECT_EQ(is_below(between(0.8, 0.9), 0.95), Answer::kYes);
  EXPECT_EQ(is_below(between(0.8, 0.9), 0.85), Answer::kUnknown);
  EXPECT_EQ(is_below(between(0.8, 0.9), 0.75), Answer::kNo);
  EXPECT_EQ(is_above(between(0.8, 0.9), 0.75), Answer::kYes);
  EXPECT_EQ(is_above(between(0.8, 0.9), 0.95), Answer::kNo);
  EXPECT_EQ(is_within(between(0.8, 0.9), 0.75, 1.25), Answer::kYes);
  EXPECT_EQ(is_within(between(0.7, 0.9), 0.75, 1.25), Answer::kUnknown);
  EXPECT_EQ(is_within(between(1.3, 1.4), 0.75, 1.25), Answer::kNo);
}

TEST(TimeRatio, IsFasterWhereTimeAndCyclesBothAreByMoreThanWhatCounts) {
  EXPECT_EQ(is_faster({between(0.90, 0.91), between(0.90, 0.91)}), Answer::kYes);
  EXPECT_EQ(is_faster({between(0.90, 0.91), between(0.99, 1.01)}), Answer::kNo);
  EXPECT_EQ(is_faster({between(0.90, 0.91), between(0.95, 1.01)}), Answer::kUnknown);
  EXPECT_EQ(is_faster({between(0.992, 0.995), std::nullopt}), Answer::kNo);
  EXPECT_EQ(is_slower({between(1.02, 1.03), std::nullopt}), Answer::kYes);
  EXPECT_EQ(is_slower({between(1.02, 1.03), between(0.99, 1.00)}), Answer::kNo);
}

}  // namespace
}  // namespace fusegate::ci
