#include "baselines/statistics/two_sides.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

// One value a side and block: the paired t test of its textbook, whose variance of the mean
// difference is var(d) / n.
TEST(DifferenceOf, PairedIsThePairedTTest) {
  const Difference difference =
      difference_of({{{10, 20, 30}, {1, 2, 3}}, {{11, 22, 33}, {1, 2, 3}}});
  EXPECT_DOUBLE_EQ(difference.effect, 2);
  EXPECT_EQ(difference.variance.degrees_of_freedom, 2);
  EXPECT_DOUBLE_EQ(difference.variance.variance * difference.share, 1.0 / 3);
}

// Solved by hand from the normal equations: blocks of two baseline values and one of the candidate.
TEST(DifferenceOf, BlocksMayHoldSeveralValuesOfASide) {
  const Difference difference = difference_of({{{1, 2, 5, 6}, {1, 1, 2, 2}}, {{3, 8}, {1, 2}}});
  EXPECT_DOUBLE_EQ(difference.effect, 2);  // 1.5 and 2.5, equally known
  EXPECT_DOUBLE_EQ(difference.share, 0.75);
  EXPECT_EQ(difference.variance.degrees_of_freedom, 3);
  // Within the baseline 0.5 + 0.5, and (0.5^2 + 0.5^2) / 1.5 between the blocks.
  EXPECT_DOUBLE_EQ(difference.variance.variance, (1 + 0.5 / 1.5) / 3);
}

TEST(DifferenceOf, ABlockKnowsMoreTheMoreItHolds) {
  // Two values against one weigh 2/3, one against one 1/2.
  const Difference difference = difference_of({{{0, 0, 0}, {1, 1, 2}}, {{1, 8}, {1, 2}}});
  EXPECT_DOUBLE_EQ(difference.effect, (2.0 / 3 * 1 + 0.5 * 8) / (2.0 / 3 + 0.5));
}

TEST(DifferenceOf, BlocksOfOneSideAreLeftOut) {
  EXPECT_DOUBLE_EQ(difference_of({{{10, 20, 999}, {1, 2, 3}}, {{11, 22, -5}, {1, 2, 4}}}).effect,
                   1.5);
  const Difference unpaired = difference_of({{{1, 3}, {1, 2}}, {{4, 6}, {2, 3}}});
  EXPECT_DOUBLE_EQ(unpaired.effect, 3) << "one block is in common";
  EXPECT_EQ(unpaired.variance.degrees_of_freedom, 2);
}

}  // namespace
}  // namespace fusegate::baselines
