#include "baselines/statistics/two_sides.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fusegate::baselines {
namespace {

TEST(DifferenceOf, UnpairedIsTheDifferenceOfMeans) {
  const Difference difference = difference_of({{1, 3}, {4, 6, 8}, {}, {}, 0});
  EXPECT_DOUBLE_EQ(difference.effect, 4);
  EXPECT_DOUBLE_EQ(difference.variance.variance, (2.0 + 8.0) / 3);
  EXPECT_EQ(difference.variance.degrees_of_freedom, 3);
  EXPECT_DOUBLE_EQ(difference.share, 1.0 / 2 + 1.0 / 3);
}

// One value a side and block: the paired t test of its textbook, whose variance of the mean
// difference is var(d) / n.
TEST(DifferenceOf, PairedIsThePairedTTest) {
  const Difference difference =
      difference_of({{10, 20, 30}, {11, 22, 33}, {1, 2, 3}, {1, 2, 3}, 0});
  EXPECT_DOUBLE_EQ(difference.effect, 2);
  EXPECT_EQ(difference.variance.degrees_of_freedom, 2);
  EXPECT_DOUBLE_EQ(difference.variance.variance * difference.share, 1.0 / 3);
}

// Solved by hand from the normal equations: blocks of two baseline values and one of the candidate.
TEST(DifferenceOf, BlocksMayHoldSeveralValuesOfASide) {
  const Difference difference = difference_of({{1, 2, 5, 6}, {3, 8}, {1, 1, 2, 2}, {1, 2}, 0});
  EXPECT_DOUBLE_EQ(difference.effect, 2);  // 1.5 and 2.5, equally known
  EXPECT_DOUBLE_EQ(difference.share, 0.75);
  EXPECT_EQ(difference.variance.degrees_of_freedom, 3);
  // Within the baseline 0.5 + 0.5, and (0.5^2 + 0.5^2) / 1.5 between the blocks.
  EXPECT_DOUBLE_EQ(difference.variance.variance, (1 + 0.5 / 1.5) / 3);
}

TEST(DifferenceOf, ABlockKnowsMoreTheMoreItHolds) {
  // Two values against one weigh 2/3, one against one 1/2.
  const Difference difference = difference_of({{0, 0, 0}, {1, 8}, {1, 1, 2}, {1, 2}, 0});
  EXPECT_DOUBLE_EQ(difference.effect, (2.0 / 3 * 1 + 0.5 * 8) / (2.0 / 3 + 0.5));
}

TEST(DifferenceOf, BlocksOfOneSideAreLeftOut) {
  const Difference difference =
      difference_of({{10, 20, 999}, {11, 22, -5}, {1, 2, 3}, {1, 2, 4}, 0});
  EXPECT_DOUBLE_EQ(difference.effect, 1.5);
}

TEST(DifferenceOf, WithoutTwoCommonBlocksItIsUnpaired) {
  EXPECT_DOUBLE_EQ(difference_of({{1, 3}, {4, 6}, {1, 2}, {2, 3}, 0}).effect, 3);
  EXPECT_EQ(difference_of({{1, 3}, {4, 6}, {1, 2}, {2, 3}, 0}).variance.degrees_of_freedom, 2);
}

// What blocks are for: a machine that drifts far more than it is noisy.
TEST(DifferenceOf, ADriftFallsOut) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  TwoSides sides;
  for (int block = 1; block <= 10; ++block) {
    const double level = normal(random);
    sides.baseline.push_back(level + 0.001 * normal(random));
    sides.candidate.push_back(level + 0.01 + 0.001 * normal(random));
    sides.baseline_blocks.push_back(block);
    sides.candidate_blocks.push_back(block);
  }
  const Difference paired = difference_of(sides);
  EXPECT_NEAR(paired.effect, 0.01, 0.002);
  EXPECT_NEAR(std::sqrt(paired.variance.variance), 0.001, 0.0005);
  sides.baseline_blocks.clear();
  EXPECT_GT(std::sqrt(difference_of(sides).variance.variance), 0.3);
}

}  // namespace
}  // namespace fusegate::baselines
