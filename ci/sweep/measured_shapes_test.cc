#include "ci/sweep/measured_shapes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "baselines/record/test_run.h"
#include "ci/sweep/crossover.h"
#include "ci/sweep/shape_sweep.h"
#include "ci/sweep/sweep_sections.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;

struct Names {
  std::string operation, slow, fast;
};

// As no source file has them.
std::string made_up(const std::string& start) {
  static std::random_device random;
  return fmt::format("{}{:08x}", start, random());
}

// The slow one takes 1 us at both sizes, the fast one half of that and twice that.
baselines::Run run_of(const Names& names, double slow_launches, double fast_launches) {
  std::vector<baselines::BenchmarkSeries> all;
  const auto add = [&](const std::string& name, int kv, double time_ns, double launches) {
    all.push_back(baselines::test_series(
        fmt::format("{}/{}/fp16/heads:16/kv:{}", names.operation, name, kv), {time_ns}));
    if (launches > 0) all.back().counters["kernel_launches"] = launches;
  };
  for (const int kv : {128, 512}) {
    add(names.fast, kv, kv == 128 ? 500 : 2000, fast_launches);
    add(names.slow, kv, 1000, slow_launches);
  }
  std::ranges::sort(all, {}, &baselines::BenchmarkSeries::name);
  return baselines::test_run(std::move(all));
}

std::string reference_of(const baselines::Run& run) { return measured_shapes(run).at(0).reference; }

TEST(MeasuredShapes, GiveTheWholeReportOfAnyNames) {
  for (const Names& names :
       {Names{made_up("op"), made_up("a"), made_up("b")},
        Names{made_up("op"), made_up("b"), made_up("a")}, Names{"softmax", "naive", "online"}}) {
    baselines::Run run = run_of(names, 0, 0);
    run.compared_with[names.operation] = {names.slow};
    const auto sweeps = shape_sweeps(run);
    const Section wins = sweep_section(sweeps);
    ASSERT_EQ(wins.table.rows().size(), 1u);
    EXPECT_THAT(wins.table.rows()[0],
                ElementsAre(names.operation, "fp16", names.fast, names.slow, "1.00x",
                            "2.00x at kv 128, heads 16", "0.50x at kv 512, heads 16", "1 of 2"));
    EXPECT_EQ(wins.parts.at(0).pictures.at(1)["kind"], "map");
    EXPECT_EQ(main_picture(sweeps).value()["even"], names.slow);
    const auto all = crossovers(run);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].implementation, names.fast);
    EXPECT_EQ(all[0].against, names.slow);
    EXPECT_EQ(crossover_text(all[0]), "stops paying at kv 256 (0.500 at 128, 2.00 at 512)");
  }
}

TEST(MeasuredShapes, CompareWithTheFirstThatIsNamedAndWasMeasured) {
  const Names names{"op", "b", "a"};
  baselines::Run run = run_of(names, 3, 1);
  run.compared_with["op"] = {"absent", "a"};
  EXPECT_EQ(reference_of(run), "a");
  run.compared_with["op"] = {"absent"};
  EXPECT_EQ(reference_of(run), "b") << "as where none is named";
}

TEST(MeasuredShapes, OfOlderFilesCompareWithWhatLaunchesMost) {
  EXPECT_EQ(reference_of(run_of({"op", "a", "b"}, 3, 1)), "a");
  EXPECT_EQ(reference_of(run_of({"op", "b", "a"}, 3, 1)), "b");
  EXPECT_EQ(reference_of(run_of({"op", "a", "b"}, 2, 2)), "b") << "of equals the last";
  EXPECT_EQ(reference_of(run_of({"op", "a", "b"}, 0, 0)), "b") << "none was counted";
}

TEST(MeasuredShapes, CompareALoneImplementationWithNothing) {
  baselines::Run run = run_of({"op", "a", "a"}, 1, 1);
  EXPECT_EQ(reference_of(run), "");
  EXPECT_TRUE(crossovers(run).empty());
}

TEST(MeasuredShapes, CompareAnImplementationWithWhatItNamesItself) {
  baselines::Run run = run_of({"op", "c", "a"}, 3, 1);
  run.benchmarks.push_back(baselines::test_series("op/b/fp16/heads:16/kv:128", {900}));
  run.compared_with = {{"op", {"c"}}, {"op/a", {"b", "absent"}}, {"op/b", {"absent"}}};
  EXPECT_THAT(
      measured_shapes(run).at(0).compared_with,
      ElementsAre(testing::Pair("a", ElementsAre("b")), testing::Pair("b", ElementsAre("c"))));
}

TEST(MeasuredShapes, KeepProblemsOfOtherNamesFractionsAndSwitchesApart) {
  const auto sweeps = shape_sweeps(
      baselines::test_run({baselines::test_series("op/a/fp16/kv:128/causal:false", {1}),
                           baselines::test_series("op/a/fp16/kv:128/causal:true", {1}),
                           baselines::test_series("op/b/fp16/kv:128/causal:true", {2})}));
  ASSERT_EQ(sweeps.size(), 2u);
  EXPECT_EQ(sweeps[1].dtype, "fp16, causal true");
  EXPECT_EQ(sweeps[1].series.at(1).points.at(0).speed_up, 2);
}

TEST(SpeedUp, IsOfTheSplitsThatBothHave) {
  const auto taking = [](double time_ns) {
    BenchmarkFigures figures;
    figures.time_ns = time_ns;
    return figures;
  };
  const Shape one{{"batch", 1}}, two{{"batch", 2}}, three{{"batch", 3}};
  const Splits fast{{one, taking(1)}, {two, taking(1)}}, slow{{two, taking(3)}, {three, taking(9)}};
  EXPECT_DOUBLE_EQ(speed_up(fast, slow), 3);
  EXPECT_TRUE(std::isnan(speed_up(fast, {})));
}

}  // namespace
}  // namespace fusegate::ci
