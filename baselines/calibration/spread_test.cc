#include "baselines/calibration/spread.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/calibration/test_pool.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

TEST(QuantilesOf, PassesOverWhatIsNotKnown) {
  const Quantiles quantiles = quantiles_of({3, std::nan(""), 1, INFINITY});
  EXPECT_EQ(quantiles.benchmarks, 2);
  EXPECT_DOUBLE_EQ(quantiles.median, 2);
  EXPECT_DOUBLE_EQ(quantiles.max, 3);
}

TEST(BenchmarkSpreads, AreOfLogarithms) {
  const double e = 0.01;
  const CalibrationPool pool =
      pool_runs({test_run({test_series("a", {1000 * std::exp(-e), 1000, 1000 * std::exp(e)})})});
  const auto spreads = benchmark_spreads(pool.cards);
  EXPECT_NEAR(spreads.at(0).spread_time, e, 1e-12);
  EXPECT_NEAR(spreads.at(0).spread_cycles, e, 1e-12);
  EXPECT_NEAR(spreads.at(0).time_ns, 1000, 1e-9);
  EXPECT_EQ(spreads.at(0).degrees_of_freedom, 2);
}

TEST(BenchmarkSpreads, DoNotTakeCardsForNoise) {
  std::mt19937_64 random(1);
  const auto run = [&](const char* uuid, double shift) {
    return simulate({.device_uuid = uuid, .processes = 200, .spread = 0.003, .shift = shift},
                    random);
  };
  const CalibrationPool pool = pool_runs({run("GPU-1", 0), run("GPU-2", 0.05)});
  for (const auto& benchmark : benchmark_spreads(pool.cards)) {
    EXPECT_NEAR(benchmark.spread_time, 0.003, 0.0004);
    EXPECT_EQ(benchmark.degrees_of_freedom, 398);
  }
}

TEST(BenchmarkSpreads, HaveNoCyclesWhereAnyIsMissing) {
  const CalibrationPool pool = pool_runs({test_run({test_series("a", {1, 2}, 0)})});
  EXPECT_TRUE(std::isnan(benchmark_spreads(pool.cards).at(0).spread_cycles));
  EXPECT_FALSE(std::isnan(benchmark_spreads(pool.cards).at(0).spread_time));
}

BenchmarkCalibration with_spread(double spread, double degrees_of_freedom) {
  BenchmarkCalibration benchmark;
  benchmark.spread_time = spread;
  benchmark.spread_cycles = benchmark.spread_equal_clock = std::nan("");
  benchmark.degrees_of_freedom = degrees_of_freedom;
  return benchmark;
}

TEST(DurationClass, BoundariesBelongToTheLonger) {
  EXPECT_EQ(duration_class(20'000), DurationClass::kLong);
  EXPECT_EQ(duration_class(19'999.9), DurationClass::kMedium);
  EXPECT_EQ(duration_class(3'000), DurationClass::kMedium);
  EXPECT_EQ(duration_class(2'999.9), DurationClass::kShort);
}

TEST(DurationClass, KeysTitlesAndTargetsAreInOneOrder) {
  EXPECT_EQ(duration_class_key(DurationClass::kLong), "from_20_us");
  EXPECT_EQ(duration_class_title(DurationClass::kMedium), "3 to 20 us");
  EXPECT_EQ(spread_target(DurationClass::kLong), 0.001);
  EXPECT_EQ(spread_target(DurationClass::kShort), 0.005);
}

TEST(ClassSpreads, SummariseEachClassOnItsOwn) {
  const std::vector<BenchmarkCalibration> benchmarks{with_spread(0.0010, 9), with_spread(0.0020, 1),
                                                     with_spread(0.01, 4)};
  const auto spreads = class_spreads(
      benchmarks, {DurationClass::kLong, DurationClass::kLong, DurationClass::kShort});
  const SpreadSummary& in_time = spreads[0].time;
  EXPECT_EQ(in_time.quantiles.benchmarks, 2);
  EXPECT_DOUBLE_EQ(in_time.quantiles.median, 0.0015);
  EXPECT_DOUBLE_EQ(in_time.quantiles.max, 0.0020);
  EXPECT_DOUBLE_EQ(in_time.rms, std::sqrt((9 * 1e-6 + 4e-6) / 10));
  EXPECT_EQ(in_time.within_target, 1);  // 0.10 % itself is within
  EXPECT_EQ(spreads[0].cycles.quantiles.benchmarks, 0);
  EXPECT_EQ(spreads[1].time.quantiles.benchmarks, 0);
  EXPECT_TRUE(std::isnan(spreads[1].time.rms));
  EXPECT_EQ(spreads[2].time.within_target, 0);
}

}  // namespace
}  // namespace fusegate::baselines
