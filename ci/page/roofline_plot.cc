// Every benchmark by its operations a byte and its speed, under the two roofs that the same run
// measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ci/page/html.h"
#include "ci/page/pictures.h"
#include "ci/page/plot.h"
#include "ci/page/style.h"

namespace fusegate::ci {
namespace {

struct ClassStyle {
  std::string_view name;
  std::size_t style;
};
// Of kSeriesColours and kMarkers.
constexpr ClassStyle kClassStyles[] = {
    {"compute-bound", 0}, {"memory-bound", 1}, {"launch-bound", 3}, {"", 7}};

std::size_t style_of_class(std::string_view name) {
  const auto found = std::ranges::find(kClassStyles, name, &ClassStyle::name);
  return found == std::end(kClassStyles) ? 7 : found->style;
}

Plot plot_of(const RooflinePicture& picture) {
  double left = INFINITY, right = 0, low = INFINITY, high = 0;
  for (const RooflinePoint& point : picture.points) {
    left = std::min(left, point.intensity);
    right = std::max(right, point.intensity);
    low = std::min(low, point.rate);
    high = std::max(high, point.rate);
  }
  if (picture.gemm) high = std::max(high, picture.gemm->value);
  if (picture.gemm && picture.copy) {
    const double ridge = picture.gemm->value * 1e3 / picture.copy->value;
    left = std::min(left, ridge);
    right = std::max(right, ridge);
  }
  return {.x = {left / 2, right * 3, true}, .y = {low / 2, high * 2, true}, .top = 14};
}

std::string roof_line(const Plot& plot, double x0, double y0, double x1, double y1) {
  return fmt::format(
      "<path d=\"M{} {}L{} {}\" stroke=\"currentColor\" stroke-width=\"1.2\" opacity=\".7\"/>",
      coordinate(plot.at_x(x0)), coordinate(plot.at_y(y0)), coordinate(plot.at_x(x1)),
      coordinate(plot.at_y(y1)));
}

// With its name above the middle of the visible part, along the line.
std::string copy_roof(const RooflinePicture& picture, const Plot& plot) {
  const double slope = picture.copy->value / 1e3;  // TFLOP/s a FLOP/byte
  const double ceiling = picture.gemm ? picture.gemm->value : plot.y.high;
  const double end = std::min(plot.x.high, ceiling / slope);
  const double start = std::max(plot.x.low, plot.y.low / slope);
  if (!(start < end)) return "";
  const double middle = std::sqrt(start * end);
  const double x = plot.at_x(middle), y = plot.at_y(middle * slope);
  const double degrees = std::atan2(plot.at_y(end * slope) - plot.at_y(start * slope),
                                    plot.at_x(end) - plot.at_x(start)) *
                         180 / M_PI;
  return roof_line(plot, start, start * slope, end, end * slope) +
         svg_text(x, y - 5, picture.copy->text, "middle",
                  fmt::format(" transform=\"rotate({} {} {})\"", coordinate(degrees), coordinate(x),
                              coordinate(y)));
}

std::string gemm_roof(const RooflinePicture& picture, const Plot& plot) {
  const double rate = picture.gemm->value;
  const double start =
      picture.copy ? std::max(plot.x.low, rate * 1e3 / picture.copy->value) : plot.x.low;
  return roof_line(plot, start, rate, plot.x.high, rate) +
         svg_text(plot.right(), plot.at_y(rate) - 4, picture.gemm->text, "end");
}

// A tooltip has lines.
std::string tooltip_html(std::string_view text) {
  std::string html;
  while (true) {
    const std::size_t end = text.find('\n');
    html += escaped(text.substr(0, end));
    if (end == text.npos) return html;
    html += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string point_svg(const Plot& plot, const RooflinePoint& point) {
  const std::size_t style = style_of_class(point.class_name);
  return fmt::format(
      "<path d=\"M{} {}{}\" stroke=\"{}\" fill=\"{}\" pointer-events=\"all\" "
      "opacity=\".85\"><title>{}</title></path>",
      coordinate(plot.at_x(point.intensity)), coordinate(plot.at_y(point.rate)), kMarkers[style],
      kSeriesColours[style], point.is_hollow ? "none" : kSeriesColours[style],
      tooltip_html(point.tooltip));
}

std::vector<LegendEntry> legend_of(const RooflinePicture& picture) {
  std::set<std::string> names;
  bool any_hollow = false;
  for (const RooflinePoint& point : picture.points) {
    names.insert(point.class_name);
    any_hollow |= point.is_hollow;
  }
  std::vector<LegendEntry> entries;
  for (const std::string& name : names) {
    const std::size_t style = style_of_class(name);
    entries.push_back({name, std::string(kSeriesColours[style]), static_cast<int>(style)});
  }
  if (any_hollow) entries.push_back({picture.hollow, "currentColor", 0, false, false, true});
  return entries;
}

}  // namespace

std::string roofline_html(const RooflinePicture& picture) {
  const Plot plot = plot_of(picture);
  // Without a grid, which would run through the roofs' names.
  std::string frame = plot.axes(plot.x.ticks(), "FLOP/byte", "TFLOP/s", false);
  if (picture.copy) frame += copy_roof(picture, plot);
  if (picture.gemm) frame += gemm_roof(picture, plot);
  std::map<std::string, std::string> points;  // by operation
  for (const RooflinePoint& point : picture.points) {
    points[point.operation] += point_svg(plot, point);
  }
  std::string html = legend_html(legend_of(picture)) + "<div class=\"panels\">\n";
  for (const auto& [operation, svg] : points) {
    html += fmt::format("<div><p class=\"panel\">{}</p>{}</div>\n", escaped(operation),
                        page_svg(plot.whole_width(), plot.whole_height(), operation, frame + svg));
  }
  return figure_html(picture.description, picture.caption, html + "</div>\n");
}

}  // namespace fusegate::ci
