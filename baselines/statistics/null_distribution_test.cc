#include "baselines/statistics/null_distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fusegate::baselines {
namespace {

constexpr double squared(double value) { return value * value; }

NullRow row(double effect, int group, double standard_error = 1e-4) {
  return {{effect, standard_error, 20}, group};
}

// Rows of a group about its shift, evenly to either side.
void add_rows(double shift, double scatter, int group, int rows, std::vector<NullRow>& all) {
  for (int i = 0; i < rows; ++i) {
    all.push_back(row(shift + (i % 2 == 0 ? scatter : -scatter), group));
  }
}

TEST(NullDistribution, EstimatesShiftAndScatterOfTheGroup) {
  std::vector<NullRow> rows;
  add_rows(0.010, 0.004, 0, 40, rows);
  add_rows(0.010, 0.001, 1, 40, rows);
  const NullDistribution null(rows, 100);
  EXPECT_NEAR(null.movement(0).shift, 0.010, 1e-4);
  EXPECT_NEAR(null.movement(1).shift, 0.010, 1e-4);
  EXPECT_NEAR(null.movement(0).scatter.scale, 0.0040, 0.0006);
  EXPECT_NEAR(null.movement(1).scatter.scale, 0.0010, 0.0003);
  EXPECT_GT(null.movement(0).scatter.degrees_of_freedom, 8);
  EXPECT_LT(std::sqrt(null.movement(0).error.variance), 0.0009);
}

TEST(NullDistribution, DrawsAGroupOfFewRowsTowardsTheOthers) {
  std::vector<NullRow> rows;
  for (int group = 0; group < 5; ++group) add_rows(0.002, 0.001, group, 20, rows);
  rows.push_back(row(0.008, 5, 0.002));
  const Movement movement = NullDistribution(rows, 100).movement(5);
  EXPECT_GT(movement.shift, 0.002);
  EXPECT_LT(movement.shift, 0.006);
}

TEST(NullDistribution, KeepsGroupsApartThatDiffer) {
  std::vector<NullRow> rows;
  add_rows(-0.010, 0.0005, 0, 20, rows);
  add_rows(0.000, 0.0005, 1, 20, rows);
  add_rows(0.010, 0.0005, 2, 20, rows);
  const NullDistribution null(rows, 100);
  EXPECT_NEAR(null.movement(0).shift, -0.010, 1e-4);
  EXPECT_NEAR(null.movement(2).shift, 0.010, 1e-4);
  // One without rows may be any.
  EXPECT_NEAR(null.movement(7).shift, 0, 1e-4);
  EXPECT_GT(std::sqrt(null.movement(7).error.variance), 0.009);
  EXPECT_LE(null.movement(7).error.degrees_of_freedom, 2);
}

TEST(NullDistribution, WhereRowsDifferByNoiseAloneThereIsNoScatter) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<NullRow> rows;
  for (int i = 0; i < 90; ++i) rows.push_back(row(0.001 * normal(random), i % 3, 0.001));
  const Movement movement = NullDistribution(rows, 100).movement(1);
  EXPECT_LT(movement.scatter.scale, 0.0005);
  EXPECT_NEAR(movement.shift, 0, 0.0005);
}

TEST(NullDistribution, OneRowAGroupStillShowsHowRowsScatter) {
  std::vector<NullRow> rows;
  for (int group = 0; group < 8; ++group) rows.push_back(row(group % 2 ? 0.004 : -0.004, group));
  const Movement movement = NullDistribution(rows, 100).movement(0);
  EXPECT_GT(error_quantile({0, 0, 1, movement.scatter}, 0.025), 0.006);
}

TEST(NullDistribution, PassesOverRowsOfWhichNothingIsKnown) {
  std::vector<NullRow> rows{row(0.001, 0), row(0.001, 0), row(0.001, 0)};
  rows.push_back({{0.9, 0, 0}, 0});
  EXPECT_NEAR(NullDistribution(rows, 100).movement(0).shift, 0.001, 1e-9);
}

TEST(TakeOut, MovesTheEffectAndWidensItsError) {
  Contrast contrast{0.015, 0.003, 8};
  take_out({0.010, {squared(0.004), 4}, {0.002, 3}}, contrast);
  EXPECT_DOUBLE_EQ(contrast.effect, 0.005);
  EXPECT_DOUBLE_EQ(contrast.standard_error, 0.005);
  EXPECT_NEAR(contrast.degrees_of_freedom, 625.0 / (81.0 / 8 + 64), 1e-9);
  EXPECT_EQ(contrast.scatter.scale, 0.002);
  EXPECT_EQ(contrast.scatter.degrees_of_freedom, 3);
}

// What effect - shift over its error should be: Student's t. Groups shifted by 0.3 % and scattered
// by 0.05 to 0.4 %, of which half have identical code.
TEST(NullDistribution, CoversWhatTheMachineDidToTheOtherRows) {
  std::mt19937 random(20261122);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  constexpr int kGroups = 6, kRows = 16;
  int covered = 0;
  int all = 0;
  for (int suite = 0; suite < 150; ++suite) {
    std::vector<NullRow> equal;
    std::vector<NullRow> others;
    const double common = 0.005 * normal(random);
    for (int group = 0; group < kGroups; ++group) {
      const double shift = common + 0.003 * normal(random);
      const double scatter = 0.0005 * std::pow(8, uniform(random));
      for (int i = 0; i < kRows; ++i) {
        const double error = 0.0002 * std::pow(5, uniform(random));
        const double effect = shift + std::hypot(scatter, error) * normal(random);
        (i % 2 ? equal : others).push_back(row(effect, group, error));
      }
    }
    const NullDistribution null(equal, 100);
    for (auto& [contrast, group] : others) {
      take_out(null.movement(group), contrast);
      const Interval interval = confidence_interval(contrast, 0.95);
      covered += interval.low <= 0 && 0 <= interval.high;
      ++all;
    }
  }
  const double share = static_cast<double>(covered) / all;
  EXPECT_GE(share, 0.93);
  EXPECT_LE(share, 0.985);
}

}  // namespace
}  // namespace fusegate::baselines
