#include "ci/claims/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fusegate::ci {
namespace {

TEST(RatioOf, IsOfGeometricMeansWithStudentsInterval) {
  const Ratio ratio = *ratio_of({98, 100, 102}, {49, 50, 51}, 0.99);
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
  EXPECT_FALSE(ratio_of({}, {1}, 0.99));
  const Ratio ratio = *ratio_of({1}, {2, 2.1}, 0.99);
  EXPECT_EQ(is_within(ratio, 0.1, 1), Answer::kUnknown);
  EXPECT_NE(ratio_text(ratio).find("one process"), std::string::npos);
}

Ratio between(double low, double high) { return {(low + high) / 2, {low, high}, 5}; }

TEST(Ratio, IsBetweenBoundsWhereItsWholeIntervalIs) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(is_within(between(0.8, 0.9), 0, 0.95), Answer::kYes);
  EXPECT_EQ(is_within(between(0.8, 0.9), 0, 0.85), Answer::kUnknown);
  EXPECT_EQ(is_within(between(0.8, 0.9), 0, 0.75), Answer::kNo);
  EXPECT_EQ(is_within(between(0.8, 0.9), 0.75, infinity), Answer::kYes);
  EXPECT_EQ(is_within(between(0.8, 0.9), 0.95, infinity), Answer::kNo);
  EXPECT_EQ(is_within(between(0.8, 0.9), 0.75, 1.25), Answer::kYes);
  EXPECT_EQ(is_within(between(0.7, 0.9), 0.75, 1.25), Answer::kUnknown);
  EXPECT_EQ(is_within(between(1.3, 1.4), 0.75, 1.25), Answer::kNo);
}

}  // namespace
}  // namespace fusegate::ci
