#include "ci/sweep/crossover.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using ::testing::SizeIs;

baselines::BenchmarkSeries measured(const std::string& kernel, int batch, int seq, double time_ns,
                                    int hidden = 3072) {
  return baselines::test_series(
      fmt::format("{}/bf16/batch:{}/seq:{}/dim:768/hidden:{}", kernel, batch, seq, hidden),
      {time_ns});
}

// geglu at M = 128, 512, ... with the ratios given; unfused takes 1 ms.
baselines::Run run_of(const std::vector<double>& ratios) {
  baselines::Run run;
  int batch = 1;
  for (const double ratio : ratios) {
    run.benchmarks.push_back(measured("geglu/fused", batch, 128, 1e6 * ratio));
    run.benchmarks.push_back(measured("geglu/unfused", batch, 128, 1e6));
    batch *= 4;
  }
  return run;
}

std::vector<Crossover> crossovers_of(const baselines::Run& run) {
  return crossovers(shape_sweeps(run));
}
std::vector<Crossover> crossovers_of(const std::vector<double>& ratios) {
  return crossovers_of(run_of(ratios));
}

TEST(Crossovers, InterpolateInLogarithmsBetweenTheTwoNeighbours) {
  const auto all = crossovers_of({0.25, 0.5, 2, 4});
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].implementation, "fused");
  EXPECT_EQ(all[0].against, "unfused");
  ASSERT_THAT(all[0].points, SizeIs(4));
  EXPECT_EQ(all[0].points[1].along, 512);
  EXPECT_DOUBLE_EQ(all[0].points[1].ratio, 0.5);
  ASSERT_THAT(all[0].crossings, SizeIs(1));
  EXPECT_NEAR(all[0].crossings[0].along, 1024, 1e-6);  // half way in log M from 512 to 2048
  EXPECT_EQ(all[0].crossings[0].before.along, 512);
  EXPECT_EQ(all[0].crossings[0].after.along, 2048);
  EXPECT_EQ(crossover_text(all[0]), "stops paying at M 1024 (0.500 at 512, 2.00 at 2048)");
}

TEST(Crossovers, HaveEveryCrossing) {
  const auto all = crossovers_of({2, 0.5, 2});
  ASSERT_THAT(all[0].crossings, SizeIs(2));
  EXPECT_EQ(crossover_text(all[0]),
            "starts paying at M 256 (2.00 at 128, 0.500 at 512); "
            "stops paying at M 1024 (0.500 at 512, 2.00 at 2048)");
}

TEST(Crossovers, TakeEqualTimesForNotPaying) {
  const auto all = crossovers_of({0.5, 1, 1.5});
  ASSERT_THAT(all[0].crossings, SizeIs(1));
  EXPECT_NEAR(all[0].crossings[0].along, 512, 1e-9);
}

TEST(Crossovers, SayAlwaysOrNeverOfTheMeasuredRows) {
  EXPECT_EQ(crossover_text(crossovers_of({0.5, 0.9})[0]), "always pays, M 128 to 512");
  EXPECT_EQ(crossover_text(crossovers_of({1, 1.1})[0]), "never pays, M 128 to 512");
  EXPECT_EQ(crossover_text(crossovers_of({0.5})[0]), "always pays, M 128");
}

TEST(Crossovers, KeepShapesApart) {
  baselines::Run run = run_of({0.5, 0.5});
  run.benchmarks.push_back(measured("geglu/fused", 1, 128, 2, 4096));
  run.benchmarks.push_back(measured("geglu/unfused", 1, 128, 1, 4096));
  const auto all = crossovers_of(run);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(shape_text(all[1].shape), "dim 768, hidden 4096");
  EXPECT_FALSE(all[1].points[0].pays());
}

TEST(Crossovers, LeaveOutWhatHasNoPartner) {
  EXPECT_TRUE(
      crossovers_of(baselines::test_run(
                        {measured("geglu/fused", 1, 128, 1), measured("geglu/unfused", 1, 256, 1),
                         baselines::failed_series("geglu/unfused/bf16/batch:1/seq:128/dim:768/"
                                                  "hidden:3072",
                                                  "threw"),
                         baselines::test_series("BM_other/8", {1})}))
          .empty());
}

}  // namespace
}  // namespace fusegate::ci
