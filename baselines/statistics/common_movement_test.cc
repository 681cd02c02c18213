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
  // The side that the change did not touch shows the scatter; on the other the change makes tails.
  EXPECT_NEAR(movement.upward.scale, 0.002, 0.0005);
  EXPECT_GT(movement.upward.degrees_of_freedom, 8);
  EXPECT_LT(movement.downward.degrees_of_freedom, 4);
}

TEST(CommonMovement, NoiseIsNoScatter) {
  const auto movement = common_movements(rows(5000, 0, 0, 0.01), std::vector<int>(5000)).front();
  EXPECT_LT(movement.upward.scale, 0.003);
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

TEST(CommonMovement, OfFewRowsEachIsHeldAgainstTheOthers) {
  auto all = rows(5, 0.01, 0, 1e-4);
  all[2].effect += 0.5;
  const auto movements = common_movements(all, std::vector<int>(5));
  EXPECT_NEAR(movements[2].shift, 0.01, 1e-3);
  EXPECT_LT(movements[2].upward.scale, 0.01);
  const auto farthest = [&](std::size_t i) {
    return error_quantile({0, 0, 1, movements[i].upward}, 0.001);
  };
  EXPECT_GT(farthest(0), 5 * farthest(2)) << "one of its others lies far off";
}

// Nothing shows what the machine did to it.
TEST(CommonMovement, ASingleRowMayHaveMovedByAnything) {
  const auto movement = common_movements(rows(1, 0.01, 0, 1e-4), {0}).front();
  EXPECT_EQ(movement.shift, 0);
  EXPECT_GT(error_quantile({0, 1e-4, 10, movement.upward}, 0.01), 0.02);
}

}  // namespace
}  // namespace fusegate::baselines
