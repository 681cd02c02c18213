#include "ci/report/stages_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using testing::ElementsAre;

baselines::BenchmarkSeries profiled(const std::string& name) {
  baselines::CallProfile profile;
  profile.kernels = {{.name = "a", .span = {"gate_proj", 0, 30e3, 1}},
                     {.name = "b", .span = {"gelu", 40e3, 60e3, 2}},
                     {.name = "c", .span = {"", 90e3, 10e3, 3}}};
  baselines::BenchmarkSeries series = baselines::test_series(name, {100e3, 100e3});
  series.stage_times = baselines::stage_times(profile);
  return series;
}

TEST(StagesTable, HasARowAStageAndOneForTheGaps) {
  const Table table =
      stages_table(baselines::test_run({profiled("m"), baselines::test_series("without", {1e3})}));
  ASSERT_EQ(table.rows().size(), 4u);
  EXPECT_THAT(table.rows()[0],
              ElementsAre("m", "gate_proj", "1", "0", "30.00 us", "30.00 us", "30.0 %"));
  EXPECT_THAT(table.rows()[1],
              ElementsAre("m", "gelu", "1", "0", "60.00 us", "60.00 us", "60.0 %"));
  EXPECT_EQ(table.rows()[2][1], "outside of stages");
  EXPECT_EQ(table.rows()[2][5], "0 ns");
  EXPECT_THAT(table.rows()[3], ElementsAre("m", "gaps", "", "", "", "10.00 us", "10.0 %"));
}

TEST(StagesTable, IsEmptyWhereNothingWasProfiled) {
  EXPECT_TRUE(stages_table(baselines::test_run({baselines::test_series("a", {1e3})})).empty());
}

TEST(ExpectationsTable, ShowsPartsThatAreNotMetAlone) {
  const Table table = expectations_table(
      {{"m", {{{"gelu", "1 gelu", "k_gelu", true}, {"mul", "1 mul", "nothing", false}}}}});
  ASSERT_EQ(table.rows().size(), 1u);
  EXPECT_THAT(table.rows()[0], ElementsAre("m", "mul", "1 mul", "nothing"));
}

}  // namespace
}  // namespace fusegate::ci
