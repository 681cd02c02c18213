#include "baselines/comparing/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "baselines/comparing/compare_suite.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

// Three benchmarks of the same noise, slower, slower by the clock alone, and unchanged, beside
// others of identical code.
class CompareSuite : public testing::Test {
 protected:
  void SetUp() override {
    for (const BenchmarkSeries& still : on_still_machine({}).benchmarks) {
      baseline_.push_back(still);
      candidate_.push_back(still);
    }
    for (std::size_t i = 0; i < baseline_.size(); ++i) {
      suite_.emplace_back();
      suite_.back().baseline = &baseline_[i];
      suite_.back().candidate = &candidate_[i];
    }
  }

  std::vector<BenchmarkSeries> baseline_{test_series("slow", {1000, 1001, 999}),
                                         test_series("clock", {1000, 1001, 999}),
                                         test_series("same", {1000, 1001, 999})};
  std::vector<BenchmarkSeries> candidate_{test_series("slow", {1020, 1021, 1019}),
                                          test_series("clock", {1020, 1021, 1019}, 2 / 1.02),
                                          test_series("same", {1000, 1001, 999})};
  std::vector<Comparison> suite_;
};

TEST_F(CompareSuite, TimeAndCyclesMustBothShowIt) {
  compare_suite(suite_, {}, {});
  EXPECT_NEAR(suite_[0].time.effect, std::log(1.02), 1e-7);
  EXPECT_NEAR(suite_[1].time.effect, std::log(1.02), 1e-7);
  EXPECT_NEAR(suite_[1].cycles->effect, 0, 1e-7);
  EXPECT_LT(suite_[0].p_slower, 1e-4);
  EXPECT_GT(suite_[1].p_slower, 0.9);
  EXPECT_LT(suite_[1].p_slower_in_time_alone, 1e-4);
  EXPECT_GT(suite_[2].p_slower, 0.9);
  for (const Comparison& comparison : suite_) EXPECT_GT(comparison.p_faster, 0.9);
}

TEST_F(CompareSuite, AdjustsOverTheSuite) {
  compare_suite(suite_, {}, {});
  const double threshold = std::log1p(Rule{}.min_effect);
  EXPECT_NEAR(suite_[0].p_slower / p_above(*suite_[0].equal_clock, threshold), 3, 1e-9);
  // In time alone two of the three have it.
  Contrast time = suite_[0].time;
  time.scatter = {};  // the machine's part is in it
  EXPECT_NEAR(suite_[0].p_slower_in_time_alone / p_above(time, threshold), 1.5, 1e-3);
}

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
  EXPECT_EQ(slower_by_the_clock(comparison, {}), true);
}

TEST_F(AtAnotherClock, WhatIsLeftAtEqualClockIsNotTheClocks) {
  Comparison comparison = compared(series(0, -0.02));
  comparison.equal_clock->effect = comparison.cycles->effect = 0.9 * comparison.time.effect;
  EXPECT_EQ(slower_by_the_clock(comparison, {}), std::nullopt);
  comparison.equal_clock->effect = 0.4 * comparison.time.effect;
  EXPECT_EQ(slower_by_the_clock(comparison, {}), true);
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

TEST_F(CompareSuite, CyclesMissingOnOneSideLeaveTimeAlone) {
  const BenchmarkSeries without = test_series("slow", {1020, 1021, 1019}, 0);
  suite_[0].candidate = &without;
  compare_suite(suite_, {}, {});
  EXPECT_FALSE(suite_[0].cycles.has_value());
  EXPECT_LT(suite_[0].p_slower, 1e-4);
  EXPECT_TRUE(suite_[1].cycles.has_value());
}

TEST_F(CompareSuite, MarksSingleProcesses) {
  const BenchmarkSeries single = test_series("slow", {1020});
  suite_[0].candidate = &single;
  suite_[1].baseline = suite_[1].candidate = &single;
  compare_suite(suite_, {}, {});
  EXPECT_TRUE(suite_[0].has_single_process);
  EXPECT_FALSE(suite_[0].has_borrowed_noise);
  EXPECT_TRUE(suite_[1].has_single_process);
  EXPECT_FALSE(suite_[2].has_single_process);
}

}  // namespace
}  // namespace fusegate::baselines
