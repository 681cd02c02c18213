#include "ci/sweep/sweep_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/sweep/test_figures.h"

namespace fusegate::ci {
namespace {

Shape shape_of(std::int64_t dim, std::int64_t hidden) { return {{"dim", dim}, {"hidden", hidden}}; }

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ShapeSweep sweep() {
  const SweepPoint slow{64, shape_of(768, 3072), 10'000, 1, kNan, 0.9};
  const SweepPoint fast{8192, shape_of(768, 3072), 20'000, 2, kNan, 1.5};
  const SweepPoint even{64, shape_of(1024, 4096), 10'000, 1, kNan, kNan};
  return {"geglu", "bf16", "M", "unfused", {{"unfused", {even}}, {"fused", {slow, fast}}}};
}

ShapeSweep sweep_without_reference() {
  ShapeSweep without = sweep();
  without.operation = "control_copy";
  without.reference.clear();
  for (SweepSeries& series : without.series) {
    for (SweepPoint& point : series.points) point.speed_up = kNan;
  }
  return without;
}

TEST(SweepSection, SumsUpWhereFusionWins) {
  const Section section = sweep_section({sweep()});
  ASSERT_EQ(section.table.rows().size(), 1u);  // and none of the reference against itself
  EXPECT_THAT(section.table.rows()[0],
              ElementsAre("geglu", "bf16", "fused", "unfused", "1.16x",
                          "1.50x at M 8192, dim 768, hidden 3072",
                          "0.90x at M 64, dim 768, hidden 3072", "1 of 2"));
}

TEST(SweepSection, DrawsSpeedUpsTimesAndTheRatesThatAreKnown) {
  const Section part = sweep_section({sweep()}).parts.at(0);
  ASSERT_EQ(part.pictures.size(), 2u);
  const auto& speed_ups = std::get<LinePicture>(part.pictures[0]);
  EXPECT_EQ(speed_ups.label, "times as fast as unfused");
  EXPECT_EQ(speed_ups.even, "unfused");
  EXPECT_EQ(speed_ups.description,
            "geglu in bf16 against unfused. fused: 1.16 times as fast on average, faster at 1 of 2 "
            "shapes.");
  ASSERT_EQ(speed_ups.panels.size(), 1u);
  const PlotLine& line = speed_ups.panels[0].lines.at(0);
  EXPECT_EQ(line.style, 0);
  EXPECT_EQ(line.points.at(1), std::pair(8192.0, 1.5));
  const auto& map = std::get<MapPicture>(part.pictures[1]);
  EXPECT_EQ(map.maps.at(0).second.at(0).text, "0.90");
  const Section& more = part.parts.at(0);
  ASSERT_EQ(more.pictures.size(), 2u);  // no memory traffic
  const auto& times = std::get<LinePicture>(more.pictures[0]);
  ASSERT_EQ(times.panels.size(), 1u);  // of one size alone there is no line
  EXPECT_EQ(times.panels[0].lines.at(0).points.at(0).second, 10);  // us
  EXPECT_EQ(std::get<LinePicture>(more.pictures[1]).label, "TFLOP/s");
}

TEST(SweepSection, HasNoSpeedUpWithoutAReference) {
  const ShapeSweep without = sweep_without_reference();
  const Section section = sweep_section({without});
  EXPECT_TRUE(section.table.empty());
  EXPECT_EQ(section.parts.at(0).fold, Fold::kNever);
  EXPECT_EQ(std::get<LinePicture>(section.parts.at(0).pictures.at(0)).label, "time, us");
  EXPECT_FALSE(main_picture({without}));
}

TEST(SweepSection, ComesSecondOnThePageAndBeginsWithWhatFusionMakesFaster) {
  const Section section = sweep_section({sweep_without_reference(), sweep()});
  EXPECT_EQ(section.page_order, PageOrder::kSecond);
  EXPECT_EQ(section.parts.at(0).title, "geglu, bf16");
}

TEST(SweepSection, DrawsNoLineThroughOnePointAndNoMapOfOneCell) {
  ShapeSweep one = sweep();
  one.series[1].points.pop_back();
  EXPECT_TRUE(sweep_section({one}).parts.at(0).empty());
  EXPECT_FALSE(main_picture({one}));
  one.series[1].points.push_back({64, shape_of(1024, 4096), 10'000, 1, kNan, 1.1});
  const Section part = sweep_section({one}).parts.at(0);  // two shapes at one M
  ASSERT_EQ(part.pictures.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<MapPicture>(part.pictures[0]));
}

TEST(MainPicture, IsOfTheSweepWithMostImplementations) {
  ShapeSweep larger = sweep();
  larger.operation = "geglu_mlp";
  larger.series.push_back({"other", {{64, shape_of(768, 3072), 1, 1, 1, 2}}});
  EXPECT_THAT(main_picture({sweep(), larger, sweep()})->caption, HasSubstr("geglu_mlp in bf16"));
  EXPECT_FALSE(main_picture({}));
}

TEST(CrossoverSection, SaysAndDrawsWhereFusionStopsPaying) {
  const Crossover crossing{"geglu",
                           "bf16",
                           "M",
                           shape_of(768, 3072),
                           "fused",
                           "unfused",
                           {{512, 0.5}, {2048, 2}},
                           {{1024.4, {512, 0.5}, {2048, 2}}}};
  const Crossover always{
      "geglu", "bf16", "M", shape_of(1024, 4096), "fused", "unfused", {{128, 0.5}, {8192, 0.75}},
      {}};
  const Section section = crossover_section({crossing, always});
  EXPECT_EQ(section.fold, Fold::kInMarkdown);
  EXPECT_EQ(section.title, "Where fusion stops paying");
  EXPECT_THAT(section.sentences, ElementsAre(kCrossoverNote));
  EXPECT_THAT(section.table.rows()[1],
              ElementsAre("geglu", "bf16", "dim 1024, hidden 4096", "fused", "unfused",
                          "always pays, M 128 to 8192"));
  ASSERT_EQ(section.pictures.size(), 1u);
  const auto& picture = std::get<LinePicture>(section.pictures[0]);
  ASSERT_EQ(picture.panels.size(), 2u);
  const PlotLine& line = picture.panels[0].lines.at(0);
  const PlotLine& other = picture.panels[1].lines.at(0);
  EXPECT_EQ(line.name, "fused / unfused");
  EXPECT_EQ(line.marks.at(0).second, "M 1024");
  EXPECT_EQ(other.style, line.style);
  EXPECT_TRUE(other.marks.empty());
  EXPECT_THAT(picture.description,
              HasSubstr("dim 768, hidden 3072, fused / unfused: stops paying at M 1024"));
}

// The host is slower than the GPU.
BenchmarkFigures figures_of(const std::string& kernel, double flops, double time_ns) {
  BenchmarkFigures figures = test_figures(kernel, time_ns, flops, 1.5e8, kNan);
  figures.host_ns = 100e3;
  return figures;
}

BenchmarkFigures of_another_program() {
  BenchmarkFigures figures = test_figures("", 1, 1, 1);
  figures.name = "BM_other/8";
  return figures;
}

const BenchmarkFigures kPointwise = figures_of("geglu/fused/bf16", 2.5e8, 40e3);

TEST(RooflineSection, HasAPointABenchmarkWithClassAndShares) {
  const MeasuredRates rates{{{"bf16", {700, "linear"}}}, MeasuredRate{4000, "copy"}, std::nullopt};
  const Section section = roofline_section(
      {kPointwise, figures_of("control_copy/memcpy/bf16", 0, 40e3), of_another_program()}, rates);
  ASSERT_EQ(section.pictures.size(), 1u);
  const auto& picture = std::get<RooflinePicture>(section.pictures[0]);
  ASSERT_EQ(picture.points.size(), 1u);
  const RooflinePoint& point = picture.points[0];
  EXPECT_NEAR(point.intensity, 1.667, 1e-3);
  EXPECT_EQ(point.class_name, "memory-bound");
  EXPECT_TRUE(point.is_hollow);
  EXPECT_EQ(point.tooltip, kPointwise.name +
                               "\nmemory-bound, launch-bound on a stream\n6.25 TFLOP/s, 1.67 "
                               "FLOP/byte\n93.8 % of the copy rate\n0.9 % of the GEMM rate");
  EXPECT_EQ(picture.caption,
            "Roofline in bf16. Roofs, as this run measured them: flat: 700 TFLOP/s of linear; "
            "slanted: 4000 GB/s of copy.");
  EXPECT_THAT(picture.description, HasSubstr("1 benchmark: 1 memory-bound."));
  EXPECT_EQ(picture.gemm.value().text, "GEMM rate, 700 TFLOP/s");
  EXPECT_EQ(picture.copy.value().value, 4000);
}

TEST(RooflineSection, SaysWhichRoofWasNotMeasured) {
  const Section section = roofline_section({kPointwise}, {});
  const auto& picture = std::get<RooflinePicture>(section.pictures.at(0));
  EXPECT_FALSE(picture.gemm || picture.copy);
  EXPECT_THAT(picture.caption, HasSubstr("no flat one, for no GEMM in bf16"));
  EXPECT_THAT(picture.caption, HasSubstr("no slanted one, for no copy"));
  EXPECT_THAT(picture.points[0].tooltip, Not(HasSubstr("rate")));
  EXPECT_TRUE(roofline_section({of_another_program()}, {}).empty());
}

}  // namespace
}  // namespace fusegate::ci
