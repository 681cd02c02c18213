#include "ci/sweep/bottleneck.h"

#include <gtest/gtest.h>

#include <limits>

namespace fusegate::ci {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// 500 TFLOP/s in bf16, 4,000 GB/s, and 2 us a launch.
MeasuredRates round_rates() {
  return {{{"bf16", {500, "linear"}}}, MeasuredRate{4000, "copy"}, MeasuredRate{2000, "launch"}};
}

// A memory-bound one whose host keeps up: 80 % of the copy rate.
BenchmarkFigures example() {
  BenchmarkFigures figures;
  figures.name = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";
  figures.time_ns = 50e3;
  figures.flops = 5e7;
  figures.min_bytes = 1.6e8;
  figures.launches = 1;
  figures.host_ns = 5e3;
  figures.host_graph_ns = 1e3;
  return figures;
}

// Rates follow from work and time, as benchmark_figures has it.
Bottlenecks classed(BenchmarkFigures figures, const MeasuredRates& rates = round_rates()) {
  figures.tflops = figures.flops / figures.time_ns / 1e3;
  figures.gbps = figures.min_bytes / figures.time_ns;
  return bottlenecks_of(figures, roofline_time_of(figures, rates), rates);
}

// Five launches that move `bytes`.
BenchmarkFigures five_launches(double time_ns, double bytes) {
  BenchmarkFigures figures = example();
  figures.time_ns = time_ns;
  figures.flops = 0;
  figures.min_bytes = bytes;
  figures.launches = 5;
  return figures;
}

TEST(BottlenecksOf, IsTheCeilingThatIsNearer) {
  BenchmarkFigures figures = example();
  EXPECT_EQ(classed(figures).as_graph, Bottleneck::kMemory);
  figures.flops = 2.5e10;  // 50 us at the GEMM rate
  EXPECT_EQ(classed(figures).as_graph, Bottleneck::kCompute);
  EXPECT_EQ(classed(figures).on_stream, Bottleneck::kCompute);
}

TEST(BottlenecksOf, BlamesLaunchesWhereTheyAreMostOfTheTimeAndTheCeilingsAreFar) {
  // Five launches of 2 us; the bytes take 4 us.
  EXPECT_EQ(classed(five_launches(19e3, 1.6e7)).as_graph, Bottleneck::kLaunch);
  EXPECT_EQ(classed(five_launches(21e3, 1.6e7)).as_graph, Bottleneck::kMemory);  // less than half
  EXPECT_EQ(classed(five_launches(7e3, 1.6e7)).as_graph, Bottleneck::kMemory);   // bytes are more
}

TEST(BottlenecksOf, IsLaunchBoundOnAStreamAloneWhereOnlyTheHostIsTooSlowForIt) {
  BenchmarkFigures figures = example();
  figures.host_ns = figures.time_ns;
  EXPECT_EQ(classed(figures).as_graph, Bottleneck::kMemory);
  EXPECT_EQ(classed(figures).on_stream, Bottleneck::kLaunch);
  figures.host_ns = figures.time_ns - 1;
  EXPECT_EQ(classed(figures).on_stream, Bottleneck::kMemory);
}

TEST(BottlenecksOf, IsLaunchBoundEitherWayWhereAGraphIs) {
  const Bottlenecks short_kernels = classed(five_launches(19e3, 1.6e7));
  EXPECT_EQ(short_kernels.on_stream, Bottleneck::kLaunch);  // though the host takes 5 us of 19
  BenchmarkFigures figures = example();
  figures.host_graph_ns = figures.time_ns;
  EXPECT_EQ(classed(figures).as_graph, Bottleneck::kLaunch);
  EXPECT_EQ(classed(figures).on_stream, Bottleneck::kLaunch);
}

TEST(BottlenecksOf, NeedsNoCeilingsForTheHost) {
  BenchmarkFigures figures = example();
  figures.host_ns = 60e3;
  const Bottlenecks bottlenecks = classed(figures, {});
  EXPECT_FALSE(bottlenecks.as_graph);
  EXPECT_EQ(bottlenecks.on_stream, Bottleneck::kLaunch);
  figures.host_ns = 40e3;
  EXPECT_FALSE(classed(figures, {}).on_stream);
}

TEST(BottlenecksOf, NeedsNoHostCostForTheGraph) {
  BenchmarkFigures figures = example();
  figures.host_ns = figures.host_graph_ns = figures.launches = kNan;
  EXPECT_EQ(classed(figures).as_graph, Bottleneck::kMemory);
  EXPECT_FALSE(classed(figures).on_stream);
  BenchmarkFigures launches = five_launches(19e3, 1.6e7);
  launches.launches = kNan;
  EXPECT_EQ(classed(launches).as_graph, Bottleneck::kMemory);
}

TEST(BottlenecksOf, IsNothingWhereNothingIsKnown) {
  BenchmarkFigures other = example();
  other.name = "BM_other/8";
  other.host_ns = 1e9;
  BenchmarkFigures failed = example();
  failed.time_ns = kNan;
  failed.host_ns = 1e9;
  BenchmarkFigures other_dtype = example();
  other_dtype.name = "geglu/fused/fp16/batch:64/seq:128/dim:768/hidden:3072";
  BenchmarkFigures idle = example();
  idle.flops = idle.min_bytes = 0;
  for (const BenchmarkFigures& figures : {other, failed, other_dtype, idle}) {
    EXPECT_FALSE(classed(figures).as_graph) << figures.name;
    EXPECT_FALSE(classed(figures).on_stream) << figures.name;
  }
}

TEST(BottlenecksText, SaysBothWaysWhereTheyDiffer) {
  EXPECT_EQ(bottlenecks_text({Bottleneck::kMemory, Bottleneck::kMemory}), "memory-bound");
  EXPECT_EQ(bottlenecks_text({Bottleneck::kCompute, std::nullopt}), "compute-bound");
  EXPECT_EQ(bottlenecks_text({Bottleneck::kLaunch, Bottleneck::kLaunch}), "launch-bound");
  EXPECT_EQ(bottlenecks_text({Bottleneck::kMemory, Bottleneck::kLaunch}),
            "memory-bound, launch-bound on a stream");
  EXPECT_EQ(bottlenecks_text({std::nullopt, Bottleneck::kLaunch}), "launch-bound on a stream");
  EXPECT_EQ(bottlenecks_text({}), "-");
}

}  // namespace
}  // namespace fusegate::ci
