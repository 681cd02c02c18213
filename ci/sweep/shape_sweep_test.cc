#include "ci/sweep/shape_sweep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "baselines/record/test_run.h"
#include "ci/sweep/crossover.h"
#include "ci/sweep/sweep_sections.h"
#include "ci/sweep/test_figures.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;

baselines::BenchmarkSeries geglu(const std::string& implementation, int batch, int seq,
                                 const std::vector<double>& times_ns, int hidden = 3072) {
  return baselines::test_series(fmt::format("geglu/{}/bf16/batch:{}/seq:{}/dim:768/hidden:{}",
                                            implementation, batch, seq, hidden),
                                times_ns);
}

TEST(ShapeSweeps, DivideTheReferencesTimeByTheImplementations) {
  const auto sweeps = shape_sweeps(
      baselines::test_run({geglu("fused", 1, 128, {1000}), geglu("unfused", 1, 128, {1500})}));
  ASSERT_EQ(sweeps.size(), 1u);
  EXPECT_EQ(sweeps[0].reference, "unfused");
  ASSERT_EQ(sweeps[0].series.size(), 2u);
  EXPECT_EQ(sweeps[0].series[0].implementation, "unfused");  // the reference comes first
  EXPECT_DOUBLE_EQ(sweeps[0].series[0].points[0].speed_up, 1);
  EXPECT_DOUBLE_EQ(sweeps[0].series[1].points[0].speed_up, 1.5);
  EXPECT_EQ(sweeps[0].series[1].points[0].along, 128);
}

TEST(ShapeSweeps, MakeOnePointOfProblemsWithTheSameRows) {
  const auto sweeps = shape_sweeps(
      baselines::test_run({geglu("fused", 1, 128, {1000}), geglu("fused", 128, 1, {4000}),
                           geglu("unfused", 1, 128, {2000}), geglu("unfused", 128, 1, {4000})}));
  ASSERT_EQ(sweeps[0].series[1].points.size(), 1u);
  const SweepPoint& point = sweeps[0].series[1].points[0];
  EXPECT_DOUBLE_EQ(point.time_ns, 2000);
  EXPECT_NEAR(point.speed_up, std::sqrt(2.0), 1e-12);  // of 2 and 1
}

TEST(ShapeSweeps, HaveNoSpeedUpWithoutAReference) {
  baselines::Run run = baselines::test_run({geglu("fused", 1, 128, {1000})});
  EXPECT_EQ(shape_sweeps(run)[0].reference, "");
  EXPECT_TRUE(std::isnan(shape_sweeps(run)[0].series[0].points[0].speed_up));
  EXPECT_TRUE(crossovers(shape_sweeps(run)).empty());
  run.benchmarks.push_back(geglu("unfused", 1, 256, {1000}));  // at another problem
  EXPECT_TRUE(std::isnan(shape_sweeps(run)[0].series[1].points[0].speed_up));
}

TEST(ShapeSweeps, LeaveOutOtherNamesAndFailures) {
  EXPECT_TRUE(shape_sweeps(baselines::test_run({geglu("fused", 1, 128, {}),
                                                baselines::test_series("BM_copy/1024", {10})}))
                  .empty());
}

TEST(ShapeSweeps, OrderPointsByDimHiddenAndRows) {
  baselines::Run run;
  for (const int hidden : {4096, 3072}) {
    for (const int seq : {512, 64}) {
      run.benchmarks.push_back(geglu("fused", 1, seq, {1000}, hidden));
    }
  }
  const auto points = shape_sweeps(run)[0].series[0].points;
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(shape_text(points[0].shape), "dim 768, hidden 3072");
  EXPECT_EQ(points[0].along, 64);
  EXPECT_EQ(shape_text(points[3].shape), "dim 768, hidden 4096");
  EXPECT_EQ(points[3].along, 512);
}

TEST(ShapeSweeps, KeepProblemsOfOtherNamesFractionsAndSwitchesApart) {
  const auto sweeps = shape_sweeps(
      baselines::test_run({baselines::test_series("op/a/fp16/kv:128/causal:false", {1}),
                           baselines::test_series("op/a/fp16/kv:128/causal:true", {1}),
                           baselines::test_series("op/b/fp16/kv:128/causal:true", {2})}));
  ASSERT_EQ(sweeps.size(), 2u);
  EXPECT_EQ(sweeps[1].dtype, "fp16, causal true");
  EXPECT_EQ(sweeps[1].series.at(1).points.at(0).speed_up, 2);
}

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
  baselines::Run run;
  const auto add = [&](const std::string& name, int kv, double time_ns, double launches) {
    run.benchmarks.push_back(baselines::test_series(
        fmt::format("{}/{}/fp16/heads:16/kv:{}", names.operation, name, kv), {time_ns}));
    if (launches > 0) run.benchmarks.back().counters["kernel_launches"] = launches;
  };
  for (const int kv : {128, 512}) {
    add(names.fast, kv, kv == 128 ? 500 : 2000, fast_launches);
    add(names.slow, kv, 1000, slow_launches);
  }
  return run;
}

std::string reference_of(const baselines::Run& run) { return shape_sweeps(run).at(0).reference; }

TEST(ShapeSweeps, GiveTheWholeReportOfAnyNames) {
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
    EXPECT_TRUE(std::holds_alternative<MapPicture>(wins.parts.at(0).pictures.at(1)));
    EXPECT_EQ(main_picture(sweeps).value().even, names.slow);
    const auto all = crossovers(sweeps);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].implementation, names.fast);
    EXPECT_EQ(all[0].against, names.slow);
    EXPECT_EQ(crossover_text(all[0]), "stops paying at kv 256 (0.500 at 128, 2.00 at 512)");
  }
}

TEST(Reference, IsTheFirstThatIsNamedAndWasMeasured) {
  baselines::Run run = run_of({"op", "b", "a"}, 3, 1);
  run.compared_with["op"] = {"absent", "a"};
  EXPECT_EQ(reference_of(run), "a");
  run.compared_with["op"] = {"absent"};
  EXPECT_EQ(reference_of(run), "b") << "as where none is named";
}

TEST(Reference, OfOlderFilesIsWhatLaunchesMost) {
  EXPECT_EQ(reference_of(run_of({"op", "a", "b"}, 3, 1)), "a");
  EXPECT_EQ(reference_of(run_of({"op", "b", "a"}, 3, 1)), "b");
  EXPECT_EQ(reference_of(run_of({"op", "a", "b"}, 2, 2)), "b") << "of equals the last";
  EXPECT_EQ(reference_of(run_of({"op", "a", "b"}, 0, 0)), "b") << "none was counted";
}

TEST(ShapeSweeps, CompareAnImplementationWithWhatItNamesItself) {
  baselines::Run run = run_of({"op", "c", "a"}, 3, 1);
  run.benchmarks.push_back(baselines::test_series("op/b/fp16/heads:16/kv:128", {900}));
  run.compared_with = {{"op", {"c"}}, {"op/a", {"b", "absent"}}, {"op/b", {"absent"}}};
  const auto sweeps = shape_sweeps(run);
  std::map<std::string, std::vector<std::string>> compared;
  for (const SweepSeries& series : sweeps.at(0).series) {
    compared[series.implementation] = series.compared_with;
  }
  EXPECT_THAT(compared, ElementsAre(testing::Pair("a", ElementsAre("b")),
                                    testing::Pair("b", ElementsAre("c")),
                                    testing::Pair("c", testing::IsEmpty())));
}

TEST(SpeedUp, IsOfTheSplitsThatBothHave) {
  const Shape one{{"batch", 1}}, two{{"batch", 2}}, three{{"batch", 3}};
  const auto taking = [](double time_ns) { return test_figures("op/a/bf16", time_ns, 1, 1); };
  const Splits fast{{one, taking(1)}, {two, taking(1)}}, slow{{two, taking(3)}, {three, taking(9)}};
  EXPECT_DOUBLE_EQ(speed_up(fast, slow), 3);
  EXPECT_TRUE(std::isnan(speed_up(fast, {})));
}

TEST(Summarise, FindsBestWorstAndMean) {
  SweepSeries series{"fused", {}};
  for (const double speed_up : {2.0, 0.5, std::nan(""), 4.0}) {
    series.points.push_back({.speed_up = speed_up});
  }
  const SweepSummary summary = summarise(series);
  EXPECT_EQ(summary.points, 3);
  EXPECT_EQ(summary.faster, 2);
  EXPECT_DOUBLE_EQ(summary.best.speed_up, 4);
  EXPECT_DOUBLE_EQ(summary.worst.speed_up, 0.5);
  EXPECT_NEAR(summary.mean_speed_up, std::cbrt(4.0), 1e-12);
}

}  // namespace
}  // namespace fusegate::ci
