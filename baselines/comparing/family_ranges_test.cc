#include "baselines/comparing/family_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr double kMatters = 0.005;

// Along one axis, in order; equally sure.
std::vector<FamilyPoint> line(const std::vector<double>& effects, double error = 0.001) {
  std::vector<FamilyPoint> points;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    points.push_back({{static_cast<std::int64_t>(i)}, {effects[i], error}});
  }
  return points;
}

TEST(AgreeingRanges, IsOneWhereAllAgree) {
  EXPECT_THAT(agreeing_ranges(line({0, 0.001, 0, 0.002}), kMatters), ElementsAre(SizeIs(4)));
  EXPECT_THAT(agreeing_ranges(line({0.03}), kMatters), ElementsAre(SizeIs(1)));
}

TEST(AgreeingRanges, FindsAStep) {
  EXPECT_THAT(agreeing_ranges(line({0.03, 0.031, 0.029, 0, 0, 0.001}), kMatters),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  EXPECT_THAT(agreeing_ranges(line({0, 0.03}), kMatters),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(AgreeingRanges, LeavesBothEndsOfAMiddleRangeTogether) {
  EXPECT_THAT(agreeing_ranges(line({0, 0, 0, 0.03, 0.03, 0, 0, 0}), kMatters),
              ElementsAre(ElementsAre(0, 1, 2, 5, 6, 7), ElementsAre(3, 4)));
}

TEST(AgreeingRanges, SetsOneOddPointAside) {
  EXPECT_THAT(agreeing_ranges(line({0, 0, 0.1, 0, 0, 0}), kMatters),
              ElementsAre(ElementsAre(0, 1, 3, 4, 5), ElementsAre(2)));
}

TEST(AgreeingRanges, FindsSeveralSteps) {
  EXPECT_THAT(agreeing_ranges(line({0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0, 0, 0}), kMatters),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5), ElementsAre(6, 7, 8)));
}

TEST(AgreeingRanges, CutsNothingForLessThanWhatMatters) {
  // Forty standard errors apart, and yet nobody would act on it.
  EXPECT_THAT(agreeing_ranges(line({0, 0, 0, 0.004, 0.004, 0.004}, 1e-4), kMatters), SizeIs(1));
  EXPECT_THAT(agreeing_ranges(line({0, 0, 0, 0.006, 0.006, 0.006}, 1e-4), kMatters), SizeIs(2));
}

TEST(AgreeingRanges, CutsNothingThatNoiseExplains) {
  EXPECT_THAT(agreeing_ranges(line({0.03, 0.02, 0.03, 0, 0.01, 0}, 0.02), kMatters), SizeIs(1));
}

TEST(AgreeingRanges, TakesTheAxisThatExplainsMore) {
  // Two axes of three and two values; slower where the second is 1.
  std::vector<FamilyPoint> points;
  for (std::int64_t m = 0; m < 3; ++m) {
    for (std::int64_t hidden = 0; hidden < 2; ++hidden) {
      points.push_back({{m, hidden}, {hidden == 1 ? 0.03 : 0, 0.001}});
    }
  }
  EXPECT_THAT(agreeing_ranges(points, kMatters),
              ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5)));
}

TEST(AgreeingRanges, FollowsOneAxisWithinARangeOfAnother) {
  // Slower where M is small and hidden is large.
  std::vector<FamilyPoint> points;
  for (std::int64_t m = 0; m < 6; ++m) {
    for (std::int64_t hidden = 0; hidden < 3; ++hidden) {
      points.push_back({{m, hidden}, {m < 3 && hidden == 2 ? 0.03 : 0, 0.001}});
    }
  }
  EXPECT_THAT(agreeing_ranges(points, kMatters), testing::Contains(ElementsAre(2, 5, 8)));
}

TEST(AgreeingRanges, AFamilyWithoutAPatternIsOne) {
  EXPECT_THAT(agreeing_ranges(line({0.01, -0.04, 0.03, 0.06, -0.01, 0.09, 0.02, -0.03}), kMatters),
              SizeIs(1));
}

// Rows that scatter by more than noise, and mostly by more than what matters, and yet have no
// order.
TEST(AgreeingRanges, ScatterIsNoPattern) {
  std::mt19937 random(20261121);
  std::normal_distribution<double> normal;
  int cut = 0;
  for (int family = 0; family < 500; ++family) {
    std::vector<FamilyPoint> points;
    for (std::int64_t i = 0; i < 24; ++i) {
      points.push_back({{i / 2, i % 2}, {0.02 + 0.004 * normal(random), 0.001}});
    }
    cut += agreeing_ranges(points, kMatters).size() > 1;
  }
  EXPECT_LE(cut, 25);
}

TEST(AgreeingRanges, IsTheSameForPointsThatDifferGreatlyInPrecision) {
  std::vector<FamilyPoint> points = line({0.03, 0.03, 0.03, 0, 0, 0});
  points[1].estimate = {0.4, 0.5};  // says nothing
  EXPECT_THAT(agreeing_ranges(points, kMatters),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
}

TEST(AgreeingRanges, TakesLongAxes) {
  std::vector<double> effects(5000, 0);
  std::fill_n(effects.begin(), 2000, 0.03);
  const auto ranges = agreeing_ranges(line(effects), kMatters);
  ASSERT_THAT(ranges, SizeIs(2));
  EXPECT_THAT(ranges[0], SizeIs(2000));
}

// The promise of the one per cent: cuts are rare where all true effects are the same.
TEST(AgreeingRanges, InventsNoRangesUnderTheNull) {
  std::mt19937 random(20261121);
  std::normal_distribution<double> normal;
  int cut = 0;
  for (int family = 0; family < 2000; ++family) {
    std::vector<FamilyPoint> points;
    for (std::int64_t i = 0; i < 27; ++i) {
      points.push_back({{i / 3, i % 3, i % 2}, {0.02 * normal(random), 0.02}});
    }
    cut += agreeing_ranges(points, 0).size() > 1;
  }
  EXPECT_LE(cut, 20);
}

}  // namespace
}  // namespace fusegate::baselines
