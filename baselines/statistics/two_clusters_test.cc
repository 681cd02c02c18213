#include "baselines/statistics/two_clusters.h"

#include <gtest/gtest.h>

#include <random>

namespace fusegate::baselines {
namespace {

TEST(TwoClusters, AreTwoOnEachSideOfAWideGap) {
  const auto boundary = cluster_boundary({1.03, 1.0, 1.001, 1.031, 0.999}, 0.003);
  ASSERT_TRUE(boundary);
  EXPECT_NEAR(*boundary, 1.0155, 1e-9);
}

TEST(TwoClusters, ASingleValueIsNoCluster) {
  EXPECT_FALSE(cluster_boundary({1.0, 1.001, 0.999, 1.0, 1.03}, 0.003));
  EXPECT_FALSE(cluster_boundary({1.0, 1.03, 1.03}, 0.003));
  EXPECT_FALSE(cluster_boundary({}, 0.003));
}

TEST(TwoClusters, TheGapMustMatterAndStandOutOfTheClusters) {
  EXPECT_FALSE(cluster_boundary({1.03, 1.0, 1.001, 1.031, 0.999}, 0.03));
  EXPECT_FALSE(cluster_boundary({1.0, 1.005, 1.01, 1.03, 1.035, 1.04}, 0.003));
}

TEST(TwoClusters, AreSeldomSeenInOne) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> values(10);
    for (double& value : values) value = normal(random);
    found += cluster_boundary(std::move(values), 0).has_value();
  }
  EXPECT_LE(found, 2);
}

}  // namespace
}  // namespace fusegate::baselines
