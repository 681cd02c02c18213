#include "ci/sweep/benchmark_figures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::ci {
namespace {

baselines::BenchmarkSeries series_of(const std::vector<double>& times_ns) {
  baselines::BenchmarkSeries series;
  series.name = std::string(1, 'a');
  for (const double time_ns : times_ns) series.processes.push_back({time_ns, 0, 0, 1});
  return series;
}

TEST(BenchmarkFigures, TakesTheGeometricMeanAndTheSpreadOfLogarithms) {
  const BenchmarkFigures figures = benchmark_figures(series_of({1000, 4000}));
  EXPECT_DOUBLE_EQ(figures.time_ns, 2000);
  EXPECT_NEAR(figures.spread, std::log(2.0) * std::sqrt(2.0), 1e-12);
}

TEST(BenchmarkFigures, TurnsCountersIntoRates) {
  baselines::BenchmarkSeries series = series_of({1000});
  series.counters = {{"flops", 5e8}, {"min_bytes", 2e6}, {"kernel_launches", 4}};
  const BenchmarkFigures figures = benchmark_figures(series);
  EXPECT_DOUBLE_EQ(figures.tflops, 500);
  EXPECT_DOUBLE_EQ(figures.gbps, 2000);
  EXPECT_DOUBLE_EQ(figures.launches, 4);
  EXPECT_TRUE(std::isnan(figures.spread));
}

TEST(BenchmarkFigures, HasNoTimeForABenchmarkThatNeverSucceeded) {
  baselines::BenchmarkSeries series = series_of({});
  series.failure = "wrong results";
  const BenchmarkFigures figures = benchmark_figures(series);
  EXPECT_TRUE(std::isnan(figures.time_ns));
  EXPECT_TRUE(std::isnan(figures.tflops));
  EXPECT_TRUE(std::isnan(figures.launches));
  EXPECT_EQ(figures.failure, "wrong results");
}

TEST(BenchmarkFigures, LeaveOutWhatWasNotMeasured) {
  baselines::BenchmarkSeries failed = series_of({});
  failed.failure = "wrong results";
  baselines::Run run;
  run.benchmarks = {series_of({1000}), series_of({}), failed};
  EXPECT_EQ(benchmark_figures(run).size(), 2u);
}

}  // namespace
}  // namespace fusegate::ci
