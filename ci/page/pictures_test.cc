#include "ci/page/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "ci/page/plot.h"
#include "ci/page/style.h"

namespace fusegate::ci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::size_t times_in(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

// Relative luminance and contrast of "#rrggbb" (WCAG 2.1).
double luminance(std::string_view colour) {
  double sum = 0;
  for (const auto& [at, weight] : {std::pair(1, 0.2126), {3, 0.7152}, {5, 0.0722}}) {
    const double c = std::stoi(std::string(colour.substr(at, 2)), nullptr, 16) / 255.0;
    sum += weight * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(std::string_view a, std::string_view b) {
  const double one = luminance(a), other = luminance(b);
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

LinePicture two_panels() {
  return {.label = "time, us",
          .caption = "A caption.",
          .description = "geglu in bf16.",
          .axis = "M",
          .panels = {{"small", {{"a", 0, {{128, 1}, {8192, 100}}, {{512, "M 512"}}}}},
                     {"large", {{"b", -1, {{128, 2}, {512, 3}}}}}},
          .even = "unfused"};
}

TEST(Lines, HaveAPanelAShapeOneLegendAndTheNamesOfCrossings) {
  const std::string html = lines_html(two_panels());
  EXPECT_EQ(times_in(html, "<svg viewBox=\"0 0 313 214\""), 2u);
  EXPECT_EQ(times_in(html, "<li>"), 3u);
  EXPECT_THAT(html, HasSubstr("aria-label=\"small\""));
  EXPECT_THAT(html, HasSubstr(">M 512</text>"));
  EXPECT_THAT(html, HasSubstr("> unfused</li>"));
}

TEST(Lines, StandWhereTheirFiguresAre) {
  const Plot plot{.x = {100, 10000, true}, .y = {0, 10}};
  EXPECT_DOUBLE_EQ(plot.at_x(1000), plot.left + plot.width / 2);
  EXPECT_DOUBLE_EQ(plot.at_y(10), plot.top);
  EXPECT_DOUBLE_EQ(plot.at_y(0), plot.bottom());
}

TEST(Ticks, AreRoundAndFew) {
  const auto texts = [](const Scale& scale) {
    std::vector<std::string> all;
    for (const auto& [value, text] : scale.ticks()) all.push_back(text);
    return all;
  };
  EXPECT_THAT(texts({0, 10.6}), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(texts({0.9, 2.1}), ElementsAre("1", "1.2", "1.4", "1.6", "1.8", "2"));
  EXPECT_THAT(texts({8, 120, true}), ElementsAre("10", "20", "50", "100"));
  EXPECT_THAT(texts({1, 30000, true}), ElementsAre("1", "10", "100", "1000", "10k"));
}

TEST(Lines, TakeASinglePointAndEqualFigures) {
  for (const bool is_log : {false, true}) {
    LinePicture picture{.panels = {{"", {{"a", 0, {{1, 3}}}}}}, .is_log = is_log};
    EXPECT_THAT(lines_html(picture), Not(HasSubstr("nan")));
  }
}

TEST(LinesFile, IsDarkOnWhiteWithALegend) {
  const std::string svg = lines_svg_file(two_panels());
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("fill=\"#ffffff\""));
  EXPECT_THAT(svg, HasSubstr(">unfused</text>"));
  EXPECT_EQ(svg, lines_svg_file(two_panels()));
}

TEST(Map, HasOneScaleOfColoursAndGaps) {
  std::vector<MapCell> cells;
  for (std::int64_t i = 0; i < 8; ++i) cells.push_back({{i, 1}, 128, 1.5, "1.50"});
  cells.push_back({{0, 1}, 8192, 0.9, "0.90"});
  const std::string html = map_html({.axis = "M", .maps = {{"fused", cells}}});
  EXPECT_EQ(times_in(html, "<table"), 2u);  // no wider than a telephone
  EXPECT_EQ(times_in(html, "<td class=\"step7\">1.50</td>"), 8u);
  EXPECT_EQ(times_in(html, "<td class=\"step2\">0.90</td>"), 1u);
  EXPECT_EQ(times_in(html, "<td></td>"), 5u);
}

TEST(Roofline, HasAPointABenchmarkAndTheRoofsThatWereMeasured) {
  RooflinePicture picture{
      .hollow = "hollow",
      .gemm = Roof{700, "GEMM rate, 700 TFLOP/s"},
      .copy = Roof{4000, "copy rate, 4000 GB/s"},
      .points = {{250, 500, "geglu_mlp", "compute-bound", false, "one"},
                 {1.67, 7, "geglu", "memory-bound", true, "name\n105.0 % of the copy rate"}}};
  const std::string html = roofline_html(picture);
  EXPECT_EQ(times_in(html, "GEMM rate, 700 TFLOP/s</text>"), 2u);  // a panel an operation
  EXPECT_THAT(html, HasSubstr("<title>name\n105.0 % of the copy rate</title>"));
  EXPECT_THAT(html, HasSubstr("fill=\"none\" pointer-events"));
  picture.gemm.reset();
  picture.copy.reset();
  EXPECT_THAT(roofline_html(picture), Not(HasSubstr("rate, ")));
}

TEST(Bars, EndWhereMediansAddUpToMore) {
  const std::string html = bars_html(
      {{{"a", {{"gelu", 0.8, "80.0 %"}, {"mul", 0.3, "30.0 %"}, {"gaps", 0.1, "10.0 %", true}}}}});
  EXPECT_THAT(html, HasSubstr("x=\"0.8000\" width=\"0.2000\""));
  EXPECT_EQ(times_in(html, "<rect x="), 2u);
  EXPECT_THAT(html, HasSubstr("aria-label=\"gelu 80.0 %, mul 30.0 %, gaps 10.0 %\""));
}

// What page.js reads of a path.
std::vector<std::pair<int, double>> effects_of(const std::string& html) {
  std::smatch found;
  std::regex_search(html, found, std::regex("data-unit=\"([^\"]+)\" data-zero=\"([^\"]+)\""));
  const double unit = std::stod(found[1]), zero = std::stod(found[2]);
  std::regex_search(html, found, std::regex("class=\"run\" d=\"([^\"]+)\""));
  const std::string path = std::regex_replace(found[1].str(), std::regex("h0"), "");
  std::vector<std::pair<int, double>> effects;
  int x = 0, y = 0;
  const std::regex pair("(-?\\d+) ?(-?\\d+)");
  for (std::sregex_iterator at(path.begin(), path.end(), pair), end; at != end; ++at) {
    x += std::stoi((*at)[1]);
    y += std::stoi((*at)[2]);
    effects.emplace_back(x, (zero - y) * unit);
  }
  return effects;
}

TEST(History, IsDrawnInFiguresThatCanBeReadBack) {
  const std::vector<double> values{1, 1, 1, 1, NAN, NAN, 1.02, 1.0203, NAN, 0.9};
  const auto effects =
      effects_of(history_html({.values = values, .is_break = std::vector<bool>(10)}));
  ASSERT_EQ(effects.size(), 7u);
  EXPECT_EQ(effects[4].first, 6);
  EXPECT_EQ(effects[6].first, 9);
  for (const auto& [night, effect] : effects) {
    EXPECT_NEAR(effect, values[static_cast<std::size_t>(night)] - 1, 3e-4);  // half a unit
  }
}

TEST(History, MarksChangesAndBreaksWhereTheReferenceDoes) {
  HistoryPicture picture{
      .values = {0, 0, 0.01}, .is_break = {false, false, true}, .marks = {{2, "a <b>", true}}};
  const std::string html = history_html(picture);
  EXPECT_THAT(html, HasSubstr("class=\"slower\" d=\"M1.5 0v"));
  EXPECT_THAT(html, HasSubstr("<title>a &lt;b&gt;</title>"));
  EXPECT_THAT(html, testing::ContainsRegex("class=\"run\" d=\"m0 [0-9]+ 1 0m1-50h0\""));
  EXPECT_EQ(history_html({.values = {NAN}, .is_break = {false}}), "");
}

TEST(Strip, HasARowAProcess) {
  const std::string html = strip_html({.rows = {{"1", false, 10, 1}, {"2", true, 12, 1}}});
  EXPECT_THAT(html, HasSubstr("<g class=\"candidate\"><path d=\"M0 5H500\"/><path class=\"dots\" "
                              "d=\"M250 5h0\"/></g>"));
  EXPECT_THAT(html, HasSubstr("<g class=\"baseline\"><path d=\"M500 15H1000\"/>"));
}

TEST(Colours, StandOutFromBothPages) {
  for (const std::string_view colour : kSeriesColours) {
    for (const std::string_view page : {kLightPage, kDarkPage}) {
      EXPECT_GE(contrast(colour, page), 3) << colour << " on " << page;
    }
  }
  for (const auto& shades : {kLightShades, kDarkShades}) {
    for (const auto& [cell, text] : shades) EXPECT_GE(contrast(cell, text), 4.5) << cell;
  }
}

TEST(Colours, AreThoseOfTheStyleSheet) {
  for (const std::string_view page : {kLightPage, kDarkPage}) {
    EXPECT_THAT(style_sheet(), HasSubstr("--page: " + std::string(page)));
  }
  EXPECT_THAT(style_sheet(), Not(HasSubstr("TABLE")));
}

}  // namespace
}  // namespace fusegate::ci
