#include "ci/sweep/ranks_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using testing::SizeIs;

baselines::BenchmarkSeries measured(const std::string& kernel, const std::string& axes,
                                    double time_ns) {
  return baselines::test_series(kernel + "/bf16/batch:1/" + axes, {time_ns});
}

// An exchange of 20 us beside work of 100 us, 180 us on one device.
baselines::Run run_of(double time_ns) {
  baselines::Run run;
  run.across_ranks = {{"mlp_tp", {"mlp", {"hidden"}, {"all_reduce"}}}};
  for (const std::string seq : {"seq:64", "seq:128"}) {
    run.benchmarks.push_back(
        measured("mlp_tp/nccl", seq + "/dim:768/hidden:3072/ranks:2", time_ns));
    run.benchmarks.push_back(measured("mlp/fused", seq + "/dim:768/hidden:1536", 1e5));
    run.benchmarks.push_back(measured("mlp/unfused", seq + "/dim:768/hidden:1536", 3e5));
    run.benchmarks.push_back(measured("mlp/fused", seq + "/dim:768/hidden:3072", 1.8e5));
    run.benchmarks.push_back(measured("all_reduce/nccl", seq + "/dim:768/ranks:2", 2e4));
    run.benchmarks.push_back(measured("all_reduce/nccl", seq + "/dim:768/ranks:4", 9e4));
  }
  return run;
}

TEST(RanksSection, SaysHowMuchOfTheExchangeIsHidden) {
  const auto times = times_over_ranks(run_of(1.05e5));
  ASSERT_THAT(times, SizeIs(2));
  EXPECT_NEAR(times[0].work_ns, 1e5, 1e-6);
  EXPECT_NEAR(times[0].exchange_ns, 2e4, 1e-6);
  EXPECT_NEAR(times[0].hidden(), 0.75, 1e-9);
  EXPECT_NEAR(times[0].speed_up(), 1.8 / 1.05, 1e-9);
  EXPECT_NEAR(times_over_ranks(run_of(1.2e5))[0].hidden(), 0, 1e-9);
  const Section section = ranks_section(times);
  ASSERT_THAT(section.table.rows(), SizeIs(2));
  EXPECT_EQ(section.table.rows()[0][6].text, "75.0 %");
  EXPECT_THAT(section.pictures, SizeIs(1));
}

TEST(RanksSection, DrawsHowItScalesWhereThereAreSeveralNumbersOfRanks) {
  baselines::Run run = run_of(1.05e5);
  for (const std::string seq : {"seq:64", "seq:128"}) {
    run.benchmarks.push_back(measured("mlp_tp/nccl", seq + "/dim:768/hidden:3072/ranks:4", 0.6e5));
    run.benchmarks.push_back(
        measured("mlp_tp/slower", seq + "/dim:768/hidden:3072/ranks:4", 0.9e5));
  }
  const Section section = ranks_section(times_over_ranks(run));
  ASSERT_THAT(section.pictures, SizeIs(2));
  const auto& scaling = std::get<LinePicture>(section.pictures[1]);
  ASSERT_THAT(scaling.panels, SizeIs(1));
  ASSERT_THAT(scaling.panels[0].lines, SizeIs(2));
  EXPECT_EQ(scaling_picture(times_over_ranks(run)).value().caption, scaling.caption);
  const PlotLine& line = scaling.panels[0].lines[0];
  EXPECT_EQ(line.name, "M 64");
  ASSERT_THAT(line.points, SizeIs(2));
  EXPECT_EQ(line.points[1].first, 4);
  EXPECT_NEAR(line.points[1].second, 3, 1e-9);
}

TEST(RanksSection, LeavesOutWhatWasNotMeasured) {
  baselines::Run run = run_of(1.05e5);
  std::erase_if(run.benchmarks, [](const auto& series) {
    return series.name.starts_with("all_reduce") || series.name.ends_with("hidden:3072");
  });
  const auto times = times_over_ranks(run);
  ASSERT_THAT(times, SizeIs(2));
  EXPECT_TRUE(std::isnan(times[0].hidden()));
  EXPECT_TRUE(std::isnan(times[0].speed_up()));
  const Section section = ranks_section(times);
  EXPECT_EQ(section.table.rows()[0][6].text, "-");
  EXPECT_THAT(section.pictures, SizeIs(0));
}

TEST(RanksSection, IsEmptyWithoutOperationsOverRanks) {
  baselines::Run run = run_of(1e5);
  run.across_ranks.clear();
  EXPECT_TRUE(times_over_ranks(run).empty());
  EXPECT_TRUE(ranks_section({}).empty());
}

}  // namespace
}  // namespace fusegate::ci
