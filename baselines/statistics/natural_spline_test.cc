#include "baselines/statistics/natural_spline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fusegate::baselines {
namespace {

TEST(NaturalSpline, IsTheMeanOrTheLine) {
  const NaturalSpline mean({1, 2, 3, 10}, {4, 6, 5, 9}, 1);
  EXPECT_DOUBLE_EQ(mean(1), 6);
  EXPECT_DOUBLE_EQ(mean(7), 6);
  const NaturalSpline line({1, 2, 3, 4}, {2, 4, 5, 9}, 2);  // by hand: slope 2.2, mean 5 at 2.5
  EXPECT_NEAR(line(2.5), 5, 1e-12);
  EXPECT_NEAR(line(3.5) - line(2.5), 2.2, 1e-12);
  EXPECT_NEAR(line(-100), line(1), 1e-12) << "level beyond the points";
  EXPECT_NEAR(line(100), line(4), 1e-12);
}

// With as many parameters as points it goes through them, and between them it is the natural
// interpolating spline: through (0, 0), (1, 1), (2, 0) that is 1.5 x - 0.5 x^3 on the left half.
TEST(NaturalSpline, InterpolatesAsTheTextbookHasIt) {
  const NaturalSpline fit({0, 1, 2}, {0, 1, 0}, 3);
  EXPECT_NEAR(fit(0), 0, 1e-12);
  EXPECT_NEAR(fit(1), 1, 1e-12);
  EXPECT_NEAR(fit(0.5), 1.5 * 0.5 - 0.5 * 0.125, 1e-12);
  EXPECT_NEAR(fit(1.5), fit(0.5), 1e-12);
}

TEST(NaturalSpline, FollowsABendThroughNoise) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.3);
  std::vector<double> x, y;
  for (int i = 0; i < 400; ++i) {
    x.push_back(6 * i / 399.0);
    y.push_back(std::exp(-x.back()) * 5 + noise(random));
  }
  const NaturalSpline fit(x, y, 6);
  for (const double at : {0.0, 1.0, 2.0, 4.0, 6.0}) EXPECT_NEAR(fit(at), std::exp(-at) * 5, 0.5);
}

TEST(NaturalSpline, TheLeverageOfAMeanAndOfALine) {
  const std::vector<double> x{1, 2, 3, 4};
  EXPECT_NEAR(NaturalSpline(x, {0, 0, 1, 0}, 1).leverage(2), 1.0 / 4, 1e-12);
  // The textbook's 1/n + (x - mean)^2 / sum of (x - mean)^2.
  EXPECT_NEAR(NaturalSpline(x, {0, 0, 1, 0}, 2).leverage(4), 0.25 + 2.25 / 5, 1e-12);
  // As many parameters as points: each holds the curve alone.
  EXPECT_NEAR(NaturalSpline({0, 1, 2}, {0, 1, 0}, 3).leverage(1), 1, 1e-12);
  // One point far from all others.
  EXPECT_NEAR(NaturalSpline({0, 0, 0, 9}, {0, 0, 0, 5}, 2).leverage(9), 1, 1e-12);
}

TEST(NaturalSpline, SpendsNoMoreThanThereAreDistinctPoints) {
  EXPECT_EQ(NaturalSpline({5, 5, 5}, {1, 2, 3}, 4).parameters(), 1);
  EXPECT_DOUBLE_EQ(NaturalSpline({5, 5, 5}, {1, 2, 3}, 4)(5), 2);
  const NaturalSpline two({1, 1, 2, 2}, {0, 2, 4, 6}, 4);
  EXPECT_EQ(two.parameters(), 2);
  EXPECT_NEAR(two(1), 1, 1e-12);
  EXPECT_NEAR(two(2), 5, 1e-12);
  // A pair of nearly equal points would bend a curve by its noise.
  EXPECT_EQ(NaturalSpline({1, 1 + 1e-9, 2, 2}, {0, 2, 4, 6}, 4).parameters(), 2);
  EXPECT_EQ(NaturalSpline({3}, {7}, 4)(3), 7);
}

}  // namespace
}  // namespace fusegate::baselines
