#include "ci/sweep/shape_sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::ci {
namespace {

void add(baselines::Run* run, const std::string& implementation, int batch, int seq, double time_ns,
         const std::string& operation = "geglu", int hidden = 3072) {
  baselines::BenchmarkSeries series;
  series.name = fmt::format("{}/{}/bf16/batch:{}/seq:{}/dim:768/hidden:{}", operation,
                            implementation, batch, seq, hidden);
  if (time_ns > 0) series.processes = {{time_ns, 0, 0, 1}};
  run->benchmarks.push_back(series);
}

TEST(ShapeSweeps, DivideTheReferencesTimeByTheImplementations) {
  fusegate::baselines::Run run;
  add(&run, "fused", 1, 128, 1000);
  add(&run, "unfused", 1, 128, 1500);
  const auto sweeps = shape_sweeps(run);
  ASSERT_EQ(sweeps.size(), 1u);
  EXPECT_EQ(sweeps[0].reference, "unfused");
  ASSERT_EQ(sweeps[0].series.size(), 2u);
  EXPECT_EQ(sweeps[0].series[0].implementation, "unfused");  // the reference comes first
  EXPECT_DOUBLE_EQ(sweeps[0].series[0].points[0].speed_up, 1);
  EXPECT_DOUBLE_EQ(sweeps[0].series[1].points[0].speed_up, 1.5);
  EXPECT_EQ(sweeps[0].series[1].points[0].along, 128);
}

TEST(ShapeSweeps, MakeOnePointOfProblemsWithTheSameRows) {
  fusegate::baselines::Run run;
  add(&run, "fused", 1, 128, 1000);
  add(&run, "fused", 128, 1, 4000);
  add(&run, "unfused", 1, 128, 2000);
  add(&run, "unfused", 128, 1, 4000);
  const auto sweeps = shape_sweeps(run);
  ASSERT_EQ(sweeps[0].series[1].points.size(), 1u);
  const SweepPoint& point = sweeps[0].series[1].points[0];
  EXPECT_DOUBLE_EQ(point.time_ns, 2000);
  EXPECT_NEAR(point.speed_up, std::sqrt(2.0), 1e-12);  // of 2 and 1
}

TEST(ShapeSweeps, HaveNoSpeedUpWithoutAReference) {
  fusegate::baselines::Run run;
  add(&run, "fused", 1, 128, 1000);
  EXPECT_EQ(shape_sweeps(run)[0].reference, "");
  EXPECT_TRUE(std::isnan(shape_sweeps(run)[0].series[0].points[0].speed_up));
  add(&run, "unfused", 1, 256, 1000);  // at another problem
  EXPECT_TRUE(std::isnan(shape_sweeps(run)[0].series[1].points[0].speed_up));
}

TEST(ShapeSweeps, LeaveOutOtherNamesAndFailures) {
  fusegate::baselines::Run run;
  add(&run, "fused", 1, 128, 0);
  run.benchmarks.push_back({"BM_copy/1024", {{10, 0, 0, 1}}, "", {}, {}, {}});
  EXPECT_TRUE(shape_sweeps(run).empty());
}

TEST(ShapeSweeps, OrderPointsByDimHiddenAndRows) {
  fusegate::baselines::Run run;
  for (const int hidden : {4096, 3072}) {
    for (const int seq : {512, 64}) add(&run, "fused", 1, seq, 1000, "geglu", hidden);
  }
  const auto points = shape_sweeps(run)[0].series[0].points;
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(shape_text(points[0].shape), "dim 768, hidden 3072");
  EXPECT_EQ(points[0].along, 64);
  EXPECT_EQ(shape_text(points[3].shape), "dim 768, hidden 4096");
  EXPECT_EQ(points[3].along, 512);
}

TEST(Summarise, FindsBestWorstAndMean) {
  SweepSeries series{"fused", {}};
  for (const double speed_up : {2.0, 0.5, std::nan(""), 4.0}) {
    SweepPoint point;
    point.speed_up = speed_up;
    series.points.push_back(point);
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
