#include "baselines/calibration/spread.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/calibration/test_pool.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0.9), 10);
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.9), 1.9);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

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

TEST(BenchmarkSpreads, AreFoundInSimulatedProcesses) {
  std::mt19937_64 random(1);
  SimulatedRun simulated{.processes = 400, .spread = 0.003};
  const CalibrationPool pool = pool_runs({simulate(simulated, random)});
  for (const auto& benchmark : benchmark_spreads(pool.cards)) {
    EXPECT_NEAR(benchmark.spread_time, 0.003, 0.0004);
  }
}

TEST(BenchmarkSpreads, DoNotTakeCardsForNoise) {
  std::mt19937_64 random(1);
  const CalibrationPool pool =
      pool_runs({simulate({.device_uuid = "GPU-1", .processes = 50, .spread = 0.001}, random),
                 simulate({.device_uuid = "GPU-2", .processes = 50, .spread = 0.001, .shift = 0.05},
                          random)});
  for (const auto& benchmark : benchmark_spreads(pool.cards)) {
    EXPECT_NEAR(benchmark.spread_time, 0.001, 0.0003);
    EXPECT_EQ(benchmark.degrees_of_freedom, 98);
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

TEST(ClassSpreads, SummariseEachClassOnItsOwn) {
  const std::vector<BenchmarkCalibration> benchmarks{with_spread(0.0010, 4), with_spread(0.0020, 4),
                                                     with_spread(0.01, 4)};
  const auto spreads = class_spreads(
      benchmarks, {DurationClass::kLong, DurationClass::kLong, DurationClass::kShort});
  const SpreadSummary& in_time = spreads[0].time;
  EXPECT_EQ(in_time.quantiles.benchmarks, 2);
  EXPECT_DOUBLE_EQ(in_time.quantiles.median, 0.0015);
  EXPECT_DOUBLE_EQ(in_time.quantiles.max, 0.0020);
  EXPECT_DOUBLE_EQ(in_time.rms, std::sqrt((1e-6 + 4e-6) / 2));
  EXPECT_EQ(in_time.within_target, 1);  // 0.10 % itself is within
  EXPECT_EQ(spreads[0].cycles.quantiles.benchmarks, 0);
  EXPECT_EQ(spreads[1].time.quantiles.benchmarks, 0);
  EXPECT_TRUE(std::isnan(spreads[1].time.rms));
  EXPECT_EQ(spreads[2].time.within_target, 0);
}

TEST(ClassSpreads, WeighByDegreesOfFreedom) {
  const auto spreads = class_spreads({with_spread(0.001, 9), with_spread(0.003, 1)},
                                     {DurationClass::kLong, DurationClass::kLong});
  EXPECT_DOUBLE_EQ(spreads[0].time.rms, std::sqrt((9 * 1e-6 + 9e-6) / 10));
}

}  // namespace
}  // namespace fusegate::baselines
