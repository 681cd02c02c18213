#include "baselines/statistics/common_movement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fusegate::baselines {
namespace {

std::vector<Contrast> rows(int count, double shift, double scatter, double error) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<Contrast> result;
  for (int i = 0; i < count; ++i) {
    const double own = std::hypot(scatter, error) * normal(random);
    result.push_back({.effect = shift + own, .standard_error = error, .degrees_of_freedom = 10});
  }
  return result;
}

TEST(CommonMovement, IsThatOfMostRows) {
  auto all = rows(1000, 0.01, 0.002, 0.001);
  for (std::size_t i = 0; i < 100; ++i) all[i].effect += 0.05;  // what a change did
  const auto movement = common_movements(all, std::vector<int>(1000)).back();
  EXPECT_NEAR(movement.shift, 0.01, 0.001);
  EXPECT_NEAR(std::sqrt(movement.scatter.variance), 0.002, 0.001);
  EXPECT_LT(movement.scatter.degrees_of_freedom, 500);
}

TEST(CommonMovement, NoiseIsNoScatter) {
  const auto movement = common_movements(rows(5000, 0, 0, 0.01), std::vector<int>(5000)).front();
  EXPECT_LT(std::sqrt(movement.scatter.variance), 0.003);
}

TEST(CommonMovement, GroupsMoveByThemselvesWhereTheyAreLarge) {
  auto all = rows(28, 0, 0, 1e-4);
  std::vector<int> groups(28);
  for (std::size_t i = 0; i < 10; ++i) groups[i] = 1;
  for (std::size_t i = 0; i < 10; ++i) all[i].effect += 0.02;
  groups[27] = 2;
  const auto movements = common_movements(all, groups);
  EXPECT_NEAR(movements[0].shift, 0.02, 1e-3);
  EXPECT_NEAR(movements[20].shift, 0, 1e-3);
  EXPECT_NEAR(movements[27].shift, 0, 1e-3) << "its group is too small";
}

TEST(CommonMovement, IsNotToldByFewRows) {
  EXPECT_EQ(common_movements(rows(15, 0.01, 0, 1e-4), std::vector<int>(15))[0].shift, 0);
  EXPECT_NE(common_movements(rows(16, 0.01, 0, 1e-4), std::vector<int>(16))[0].shift, 0);
}

}  // namespace
}  // namespace fusegate::baselines
