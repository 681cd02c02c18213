#include "ci/sweep/stages_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

baselines::BenchmarkSeries profiled(const std::string& name) {
  baselines::CallProfile profile;
  profile.kernels = {{.name = "a", .span = {"gate_proj", 0, 30e3, 1}},
                     {.name = "b", .span = {"gelu", 40e3, 60e3, 2}},
                     {.name = "c", .span = {"", 90e3, 10e3, 3}}};
  baselines::BenchmarkSeries series = baselines::test_series(name, {100e3, 100e3});
  series.stage_times = baselines::stage_times(profile);
  return series;
}

TEST(StagesSection, HasARowAStageAndOneForTheGaps) {
  const Section section = stages_section(
      baselines::test_run({profiled("m"), baselines::test_series("without", {1e3})}));
  EXPECT_THAT(section.sentences.front(), HasSubstr("GPU time by stage"));
  const auto& rows = section.table.rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_THAT(rows[0], ElementsAre("m", "gate_proj", "1", "0", "30.00 us", "30.00 us", "30.0 %"));
  EXPECT_THAT(rows[1], ElementsAre("m", "gelu", "1", "0", "60.00 us", "60.00 us", "60.0 %"));
  EXPECT_EQ(rows[2][1], "outside of stages");
  EXPECT_EQ(rows[2][5], "0 ns");
  EXPECT_THAT(rows[3], ElementsAre("m", "gaps", "", "", "", "10.00 us", "10.0 %"));
}

TEST(StagesSection, IsEmptyWhereNothingWasProfiled) {
  const baselines::Run run = baselines::test_run({baselines::test_series("a", {1e3})});
  EXPECT_TRUE(stages_section(run).empty());
  EXPECT_TRUE(launches_section(run).empty());
}

TEST(LaunchesSection, GroupsByOperationAndDtypeWithBarsAndWhatWasDeclared) {
  baselines::BenchmarkSeries ours =
      profiled("geglu/fused/bf16/batch:1/seq:128/dim:768/hidden:3072");
  ours.expectation = {{{"gelu", "1 gelu", "k_gelu", true}, {"mul", "1 mul", "nothing", false}}};
  baselines::BenchmarkSeries declared = baselines::test_series("BM_other/8", {1e3});
  declared.expectation = ours.expectation;
  const Section section = launches_section(baselines::test_run({ours, declared}));
  ASSERT_EQ(section.parts.size(), 2u);
  const Section& group = section.parts[0];
  EXPECT_EQ(group.title, "geglu, bf16: 1 benchmark");
  const Bar& bar = std::get<BarsPicture>(group.pictures.at(0)).bars.at(0);
  ASSERT_EQ(bar.parts.size(), 3u);  // nothing ran outside of stages alone
  EXPECT_EQ(bar.parts[1].text, "60.0 %");
  EXPECT_TRUE(bar.parts[2].is_gap);
  const auto& parts = group.parts[0].table.rows();
  EXPECT_THAT(parts[0], ElementsAre(ours.name, "gelu", "1 gelu", "k_gelu", "yes"));
  EXPECT_THAT(parts[1], ElementsAre(ours.name, "mul", "1 mul", "nothing", "no"));
  EXPECT_EQ(section.parts[1].title, "other benchmarks: 1 benchmark");
  EXPECT_TRUE(section.parts[1].pictures.empty());
}

}  // namespace
}  // namespace fusegate::ci
