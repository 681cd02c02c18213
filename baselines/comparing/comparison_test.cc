#include "baselines/comparing/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/comparing/compare_suite.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

// A kernel of which four fifths of the time go with the clock, as its samples show: what it takes
// in time and in cycles where its code is slower and the clock higher by that much.
class AtAnotherClock : public testing::Test {
 protected:
  static constexpr double kShare = 0.8;

  static BenchmarkSeries series(double slower, double clock) {
    const double time = (1 + slower) / std::pow(1 + clock, kShare);
    BenchmarkSeries series =
        test_series("a", {1000 * time, 1001 * time, 999 * time}, 2 * (1 + clock));
    for (ProcessSummary& summary : series.processes) {
      summary.clock_fit = {.time_squares = 1e-4 * kShare * kShare + 1e-9,
                           .clock_squares = 1e-4,
                           .products = -1e-4 * kShare,
                           .degrees_of_freedom = 47};
    }
    return series;
  }
  static Comparison compared(const BenchmarkSeries& candidate) {
    const BenchmarkSeries baseline = series(0, 0);
    std::vector<Comparison> suite(1);
    suite[0].baseline = &baseline;
    suite[0].candidate = &candidate;
    compare_suite(suite, {}, {});
    return suite[0];
  }
};

TEST_F(AtAnotherClock, ALowerClockIsNoSlowerKernel) {
  const Comparison comparison = compared(series(0, -0.02));
  EXPECT_NEAR(comparison.clock_share, kShare, 0.01);
  EXPECT_GT(comparison.time.effect, 0.015);
  EXPECT_NEAR(comparison.equal_clock->effect, 0, 2e-4);
  EXPECT_GT(comparison.p_slower, 0.5);
  EXPECT_EQ(slower_by_the_clock(comparison, Rule{}.false_discovery_rate), true);
}

TEST_F(AtAnotherClock, WhatIsLeftAtEqualClockIsNotTheClocks) {
  Comparison comparison = compared(series(0, -0.02));
  comparison.equal_clock->effect = comparison.cycles->effect = 0.9 * comparison.time.effect;
  EXPECT_EQ(slower_by_the_clock(comparison, Rule{}.false_discovery_rate), std::nullopt);
  comparison.equal_clock->effect = 0.4 * comparison.time.effect;
  EXPECT_EQ(slower_by_the_clock(comparison, Rule{}.false_discovery_rate), true);
}

TEST_F(AtAnotherClock, AHigherClockHidesNoSlowerKernel) {
  const Comparison comparison = compared(series(0.1, 0.08));
  EXPECT_LT(comparison.time.effect, 0.04);
  EXPECT_NEAR(comparison.equal_clock->effect, std::log(1.1), 1e-3);
  EXPECT_LT(comparison.p_slower, 0.01);
}

// As the share may be wrong by something, a clock that moved by much decides nothing.
TEST_F(AtAnotherClock, WhatTimeDoesNotShowIsNotCalled) {
  const Comparison comparison = compared(series(0.01, 0.02));
  EXPECT_LT(comparison.time.effect, 0);
  EXPECT_NEAR(comparison.equal_clock->effect, std::log(1.01), 4e-4);
  EXPECT_EQ(comparison.p_slower, 1);
}

}  // namespace
}  // namespace fusegate::baselines
