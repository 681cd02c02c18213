#include "ci/sweep/bottleneck.h"

#include <gtest/gtest.h>

#include "ci/sweep/test_figures.h"

namespace fusegate::ci {
namespace {

BenchmarkFigures with_host(BenchmarkFigures figures, double host_ns, double host_graph_ns) {
  figures.host_ns = host_ns;
  figures.host_graph_ns = host_graph_ns;
  return figures;
}

// A memory-bound one whose host keeps up: 80 % of the copy rate.
BenchmarkFigures example(double host_ns = 5e3, double host_graph_ns = 1e3, double flops = 5e7) {
  return with_host(test_figures("geglu/fused/bf16", 50e3, flops, 1.6e8), host_ns, host_graph_ns);
}

// Five launches of 2 us; the bytes take 4 us.
BenchmarkFigures five_launches(double time_ns) {
  return with_host(test_figures("geglu/fused/bf16", time_ns, 0, 1.6e7, 5), 5e3, 1e3);
}

Bottlenecks classed(const BenchmarkFigures& figures, const MeasuredRates& rates = round_rates()) {
  return bottlenecks_of(figures, roofline_time_of(figures, rates), rates);
}

TEST(BottlenecksOf, IsTheCeilingThatIsNearer) {
  EXPECT_EQ(classed(example()).as_graph, Bottleneck::kMemory);
  const Bottlenecks compute = classed(example(5e3, 1e3, 2.5e10));  // 50 us at the GEMM rate
  EXPECT_EQ(compute.as_graph, Bottleneck::kCompute);
  EXPECT_EQ(compute.on_stream, Bottleneck::kCompute);
}

TEST(BottlenecksOf, BlamesLaunchesWhereTheyAreMostOfTheTimeAndTheCeilingsAreFar) {
  EXPECT_EQ(classed(five_launches(19e3)).as_graph, Bottleneck::kLaunch);
  EXPECT_EQ(classed(five_launches(21e3)).as_graph, Bottleneck::kMemory);  // less than half
  EXPECT_EQ(classed(five_launches(7e3)).as_graph, Bottleneck::kMemory);   // bytes are more
}

TEST(BottlenecksOf, IsLaunchBoundOnAStreamAloneWhereOnlyTheHostIsTooSlowForIt) {
  EXPECT_EQ(classed(example(50e3)).as_graph, Bottleneck::kMemory);
  EXPECT_EQ(classed(example(50e3)).on_stream, Bottleneck::kLaunch);
  EXPECT_EQ(classed(example(50e3 - 1)).on_stream, Bottleneck::kMemory);
}

TEST(BottlenecksOf, IsLaunchBoundEitherWayWhereAGraphIs) {
  EXPECT_EQ(classed(five_launches(19e3)).on_stream, Bottleneck::kLaunch)
      << "though the host takes 5 us of 19";
  EXPECT_EQ(classed(example(5e3, 50e3)).as_graph, Bottleneck::kLaunch);
  EXPECT_EQ(classed(example(5e3, 50e3)).on_stream, Bottleneck::kLaunch);
}

TEST(BottlenecksOf, NeedsNoCeilingsForTheHost) {
  EXPECT_FALSE(classed(example(60e3), {}).as_graph);
  EXPECT_EQ(classed(example(60e3), {}).on_stream, Bottleneck::kLaunch);
  EXPECT_FALSE(classed(example(40e3), {}).on_stream);
}

TEST(BottlenecksOf, NeedsNoHostCostForTheGraph) {
  BenchmarkFigures figures = example(kNan, kNan);
  figures.launches = kNan;
  EXPECT_EQ(classed(figures).as_graph, Bottleneck::kMemory);
  EXPECT_FALSE(classed(figures).on_stream);
  BenchmarkFigures launches = five_launches(19e3);
  launches.launches = kNan;
  EXPECT_EQ(classed(launches).as_graph, Bottleneck::kMemory);
}

TEST(BottlenecksOf, IsNothingWhereNothingIsKnown) {
  BenchmarkFigures other = example(1e9);
  other.name = "BM_other/8";
  BenchmarkFigures failed = example(1e9);
  failed.time_ns = kNan;
  const BenchmarkFigures other_dtype =
      with_host(test_figures("geglu/fused/fp16", 50e3, 5e7, 1.6e8), 5e3, 1e3);
  const BenchmarkFigures idle = with_host(test_figures("geglu/fused/bf16", 50e3, 0, 0), 5e3, 1e3);
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
