#include "baselines/comparing/between_cards.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/comparing/judge.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

BenchmarkSeries with_intensity(double flops_per_byte) {
  BenchmarkSeries series = test_series("a", kQuiet);
  series.counters = {{"flops", flops_per_byte * 1e6}, {"min_bytes", 1e6}};
  return series;
}

Run on_card(const std::string& uuid, double factor, double clock_ghz = 2) {
  Run run = test_run({test_series("a", scaled(kQuiet, factor), clock_ghz)});
  run.provenance.device_uuid = uuid;
  return run;
}

TEST(BetweenCards, TimeCarriesOverBetterForMemoryBoundKernels) {
  EXPECT_LT(between_cards(with_intensity(1)).time.variance,
            between_cards(with_intensity(500)).time.variance);
  // Nothing known: the cautious one.
  EXPECT_EQ(between_cards(test_series("a", kQuiet)).time.variance,
            between_cards(with_intensity(500)).time.variance);
}

TEST(BetweenCards, LongKernelsCarryOverBestAtEqualClock) {
  const auto variance = [](double time_ns) {
    return between_cards(test_series("a", {time_ns, time_ns})).equal_clock.variance;
  };
  EXPECT_LT(variance(500e3), variance(60e3));
  EXPECT_LT(variance(60e3), variance(3e3));
}

TEST(Judge, WhatIsARegressionOnOneCardMayBeAnotherCard) {
  EXPECT_EQ(judge(on_card("one", 1), on_card("one", 1.01), {})[0].kind, VerdictKind::kRegression);
  const Verdict verdict = judge(on_card("one", 1), on_card("two", 1.01), {})[0];
  EXPECT_EQ(verdict.kind, VerdictKind::kInconclusive);
  EXPECT_EQ(verdict.obstacle, Obstacle::kCardsDiffer);
  // No card named: as if it were the same.
  EXPECT_EQ(judge(on_card("", 1), on_card("two", 1.01), {})[0].kind, VerdictKind::kRegression);
}

TEST(Judge, ALargeSlowdownIsSeenAcrossCardsToo) {
  EXPECT_EQ(judge(on_card("one", 1), on_card("two", 2), {})[0].kind, VerdictKind::kRegression);
}

}  // namespace
}  // namespace fusegate::baselines
