#include "ci/sweep/figures_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/test_run.h"
#include "ci/console/test_table.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;

constexpr const char* kName = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";

TEST(FiguresTable, HasWhatEveryRunHas) {
  const Table table = figures_table({benchmark_figures(baselines::test_series("BM_a", {1000})),
                                     benchmark_figures(baselines::failed_series("BM_b", "threw"))},
                                    {});
  EXPECT_THAT(headers(table),
              ElementsAre("benchmark", "time", "spread", "launches", "TFLOP/s", "GB/s", "failure"));
  EXPECT_THAT(table.rows()[0], ElementsAre("BM_a", "1.000 us", "-", "-", "-", "-", ""));
  EXPECT_THAT(table.rows()[1], ElementsAre("BM_b", "-", "-", "-", "-", "-", "threw"));
}

TEST(FiguresTable, HasHostCostAndRooflineTimeWhereTheyAreKnown) {
  baselines::BenchmarkSeries series = baselines::test_series(kName, {50e3});
  series.counters = {{"flops", 5e7},
                     {"min_bytes", 1.6e8},
                     {"host_ns", 2900},
                     {"host_graph_ns", 2100},
                     {"kernel_launches", 1}};
  const MeasuredRates rates{{{"bf16", {500, ""}}}, MeasuredRate{4000, ""}, std::nullopt};
  const Table table = figures_table({benchmark_figures(series)}, rates);
  EXPECT_THAT(headers(table),
              ElementsAre("benchmark", "time", "spread", "launches", "TFLOP/s", "GB/s", "host",
                          "host, as a graph", "roofline time", "gap", "of copy rate",
                          "of GEMM rate", "class", "failure"));
  EXPECT_THAT(table.rows()[0],
              ElementsAre(kName, "50.00 us", "-", "1", "1.00", "3200", "2.900 us", "2.100 us",
                          "40.00 us", "1.25", "80.0 %", "0.2 %", "memory-bound", ""));
}

TEST(FiguresTable, HasMemoryWhereItIsKnown) {
  baselines::BenchmarkSeries keep = baselines::test_series("keep", {1000});
  keep.counters = {{"memory_bytes", 2e9}, {"kept_bytes", 5e8}};
  const Table table = figures_table(
      {benchmark_figures(keep), benchmark_figures(baselines::test_series("b", {1}))}, {});
  EXPECT_THAT(headers(table), ElementsAre("benchmark", "time", "spread", "launches", "TFLOP/s",
                                          "GB/s", "memory", "kept", "failure"));
  EXPECT_THAT(table.rows()[0],
              ElementsAre("keep", "1.000 us", "-", "-", "-", "-", "2.000 GB", "500.0 MB", ""));
}

}  // namespace
}  // namespace fusegate::ci
