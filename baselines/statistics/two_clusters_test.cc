#include "baselines/statistics/two_clusters.h"

#include <gtest/gtest.h>

#include <random>

namespace fusegate::baselines {
namespace {

TEST(TwoHeaps, AreTwoOnEachSideOfAWideGap) {
  const auto heaps = two_heaps({1.03, 1.0, 1.001, 1.031, 0.999}, 0.003);
  ASSERT_TRUE(heaps);
  EXPECT_NEAR(heaps->boundary, 1.0155, 1e-9);
}

TEST(TwoHeaps, ASingleValueIsNoHeap) {
  EXPECT_FALSE(two_heaps({1.0, 1.001, 0.999, 1.0, 1.03}, 0.003));
  EXPECT_FALSE(two_heaps({1.0, 1.03, 1.03}, 0.003));
  EXPECT_FALSE(two_heaps({}, 0.003));
}

TEST(TwoHeaps, TheGapMustMatterAndStandOutOfTheHeaps) {
  EXPECT_FALSE(two_heaps({1.03, 1.0, 1.001, 1.031, 0.999}, 0.03));
  EXPECT_FALSE(two_heaps({1.0, 1.005, 1.01, 1.03, 1.035, 1.04}, 0.003));
}

TEST(TwoHeaps, AreSeldomSeenInOne) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> values(10);
    for (double& value : values) value = normal(random);
    found += two_heaps(std::move(values), 0).has_value();
  }
  EXPECT_LE(found, 2);
}

}  // namespace
}  // namespace fusegate::baselines
