#include "ci/peers/peer_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSmall = "/bf16/batch:1/seq:128/dim:768/hidden:3072";
constexpr const char* kLarge = "/bf16/batch:64/seq:128/dim:768/hidden:3072";

baselines::BenchmarkSeries timed(const std::string& kernel, const std::string& problem,
                                 double time_ns, double flops = 5e9, double bytes = 4e7) {
  baselines::BenchmarkSeries series = baselines::test_series(kernel + problem, {time_ns});
  series.counters = {{"flops", flops}, {"min_bytes", bytes}, {"kernel_launches", 2}};
  return series;
}

// fusegate's classes share the name Run with GoogleTest's.
fusegate::baselines::Run ours() {
  return baselines::test_run(
      {timed("geglu_mlp/fused", kLarge, 80e3), timed("geglu_mlp/unfused", kLarge, 100e3),
       timed("geglu_mlp/fused", kSmall, 30e3), timed("geglu_mlp/unfused", kSmall, 20e3),
       as_control(timed("control_gemm/cublas", kLarge, 100e3, 5e10)),
       as_control(timed("control_copy/memcpy", kLarge, 40e3, 0, 1.6e8)),
       timed("BM_other/8", "", 10)});
}

fusegate::baselines::Run peers() {
  return baselines::test_run(
      {timed("geglu_mlp/torch_eager", kLarge, 200e3), timed("geglu_mlp/liger", kLarge, 160e3),
       baselines::failed_series(std::string("geglu_mlp/torch_compile") + kLarge, "threw")});
}

TEST(PeerComparison, SetOurBestAgainstTheBestPeerAtEachProblem) {
  const fusegate::baselines::Run theirs = peers();
  const PeerComparison result = peer_comparison(ours(), {&theirs, 1});
  ASSERT_EQ(result.operations.size(), 1u);  // no controls, no other programs
  const OperationComparison& mlp = result.operations[0];
  EXPECT_EQ(mlp.operation, "geglu_mlp");
  EXPECT_THAT(mlp.ours, ElementsAre("fused", "unfused"));
  EXPECT_THAT(mlp.peers, ElementsAre("liger", "torch_compile", "torch_eager"));
  ASSERT_EQ(mlp.problems.size(), 2u);
  const ProblemComparison& small = mlp.problems[0];
  EXPECT_EQ(small.problem.axis("batch"), 1);
  EXPECT_EQ(small.our_best()->name, "unfused");
  EXPECT_EQ(small.best_peer(), nullptr);
  EXPECT_TRUE(std::isnan(small.ratio()));
  const ProblemComparison& large = mlp.problems[1];
  EXPECT_EQ(large.our_best()->name, "fused");
  EXPECT_EQ(large.best_peer()->name, "liger");
  EXPECT_NEAR(large.ratio(), 0.5, 1e-12);
}

TEST(PeerComparison, HaveTheRooflineTimeOfOursByTheRunsOwnRates) {
  const fusegate::baselines::Run theirs = peers();
  const PeerComparison result = peer_comparison(ours(), {&theirs, 1});
  EXPECT_TRUE(result.operations[0].has_roofline_times());
  EXPECT_THAT(result.notes,
              Contains(AllOf(StartsWith("roofline time: "), HasSubstr("are not limits"))));
  EXPECT_THAT(result.notes, Not(Contains(StartsWith("warning: "))));
  const ProblemComparison& large = result.operations[0].problems[1];
  EXPECT_NEAR(large.our_best()->roofline_time.ns, 10e3, 1e-6);
  EXPECT_NEAR(large.our_best()->roofline_time.gap, 8, 1e-9);
  EXPECT_TRUE(std::isnan(large.best_peer()->roofline_time.ns));
}

TEST(PeerComparison, HasTheEnergyOfACallWhereItWasMeasured) {
  fusegate::baselines::Run own = ours(), theirs = peers();
  const auto count = [](fusegate::baselines::Run& run, double joules) {
    for (auto& series : run.benchmarks) series.counters["energy_per_call_j"] = joules;
  };
  EXPECT_FALSE(peer_comparison(own, {&theirs, 1}).operations[0].has_energies());
  count(theirs, 0.5);
  const PeerComparison result = peer_comparison(own, {&theirs, 1});
  EXPECT_TRUE(result.operations[0].has_energies()) << "a peer's alone";
  EXPECT_THAT(result.notes, Contains(StartsWith("energy: of a call")));
  EXPECT_EQ(result.operations[0].problems[1].best_peer()->energy_j, 0.5);
  EXPECT_TRUE(std::isnan(result.operations[0].problems[1].our_best()->energy_j));
  count(own, 0.25);
  EXPECT_EQ(peer_comparison(own, {}).operations[0].problems[1].our_best()->energy_j, 0.25);
}

TEST(PeerComparison, HaveNoRooflineTimesWithoutACopy) {
  const PeerComparison result =
      peer_comparison(baselines::test_run({timed("geglu/fused", kLarge, 80e3)}), {});
  ASSERT_EQ(result.operations.size(), 1u);
  EXPECT_FALSE(result.operations[0].has_roofline_times());
  EXPECT_THAT(result.operations[0].peers, IsEmpty());
  EXPECT_THAT(result.notes, Contains("no copy control in this run"));
  EXPECT_THAT(result.notes, Not(Contains(StartsWith("roofline time: "))));
}

TEST(PeerComparison, IsEmptyForAnotherProgramsRun) {
  const PeerComparison result =
      peer_comparison(baselines::test_run({timed("BM_other/8", "", 10)}), {});
  EXPECT_THAT(result.operations, IsEmpty());
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(PeerComparison, KeepAProblemThatPeersAloneMeasured) {
  const fusegate::baselines::Run theirs = peers();
  const PeerComparison result =
      peer_comparison(baselines::test_run({timed("geglu_mlp/fused", kSmall, 80e3)}), {&theirs, 1});
  ASSERT_EQ(result.operations[0].problems.size(), 2u);
  EXPECT_EQ(result.operations[0].problems[1].our_best(), nullptr);
  EXPECT_THAT(result.notes, Contains("warning: no problem has a time of ours and of a peer"));
}

TEST(PeerComparison, OrderProblemsByDimHiddenAndRows) {
  fusegate::baselines::Run run;
  for (const char* problem : {"batch:8/seq:1/dim:4096/hidden:64", "batch:2/seq:512/dim:64/hidden:8",
                              "batch:64/seq:1/dim:64/hidden:8", "batch:1/seq:64/dim:64/hidden:8"}) {
    run.benchmarks.push_back(timed("geglu/fused/bf16/", problem, 10));
  }
  const PeerComparison all = peer_comparison(run, {});
  std::vector<std::int64_t> batches;
  for (const auto& problem : all.operations[0].problems) {
    batches.push_back(problem.problem.axis("batch"));
  }
  EXPECT_THAT(batches, ElementsAre(1, 64, 2, 8));
}

}  // namespace
}  // namespace fusegate::ci
