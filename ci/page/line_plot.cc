// Lines over M or another axis. On a page each panel is a picture of its own, which fits a narrow
// one; as a file they are one picture.
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

constexpr double kXMargin = 1.25;
constexpr std::size_t kMostTicks = 6;
// Panels side by side in a file.
constexpr std::size_t kMostPanels = 4;
constexpr double kTitleHeight = 20, kLegendLine = 18;

LegendEntry entry_of(const PlotLine& line) {
  if (line.style < 0) return {line.name, std::string(kReferenceColour), 0, true, true};
  const auto style = static_cast<std::size_t>(line.style);
  return {line.name, std::string(kSeriesColours[style % kSeriesColours.size()]),
          line.style % static_cast<int>(kMarkers.size()), true};
}

// Of all panels: one shape may lack an implementation that another has.
std::vector<LegendEntry> legend_of(const LinePicture& picture) {
  std::vector<LegendEntry> entries;
  for (const LinePanel& panel : picture.panels) {
    for (const PlotLine& line : panel.lines) {
      if (std::ranges::find(entries, line.name, &LegendEntry::name) == entries.end()) {
        entries.push_back(entry_of(line));
      }
    }
  }
  if (picture.even && !picture.even->empty()) {
    entries.push_back({*picture.even, std::string(kReferenceColour), -1, true, true});
  }
  return entries;
}

std::string size_text(double value) {
  const auto size = std::lround(value);
  return size >= 1024 && size % 1024 == 0 ? fmt::format("{}k", size / 1024) : std::to_string(size);
}

// All sizes where they fit, else every second, third, ...; the largest always.
Ticks size_ticks(const std::set<double>& sizes) {
  const std::size_t step = (sizes.size() + kMostTicks - 1) / kMostTicks;
  Ticks ticks;
  std::size_t i = 0;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size, ++i) {
    if (i % step == 0) ticks.emplace_back(*size, size_text(*size));
  }
  return ticks;
}

// One for all panels.
struct Frame {
  Plot plot;
  Ticks x_ticks;
};

Frame frame_of(const LinePicture& picture) {
  std::set<double> sizes;
  double low = picture.even ? 1 : INFINITY, high = picture.even ? 1 : -INFINITY;
  bool has_marks = false;
  for (const LinePanel& panel : picture.panels) {
    for (const PlotLine& line : panel.lines) {
      has_marks |= !line.marks.empty();
      for (const auto& [x, y] : line.points) {
        sizes.insert(x);
        low = std::min(low, y);
        high = std::max(high, y);
      }
    }
  }
  if (picture.is_log) {
    low /= 1.2;
    high *= 1.2;
  } else if (picture.is_from_zero) {
    low = 0;
    high *= 1.06;
  } else {  // room for the names of marks
    const double margin = (has_marks ? 0.2 : 0.06) * (high > low ? high - low : std::abs(high));
    low -= margin;
    high += margin;
  }
  return {{.x = {*sizes.begin() / kXMargin, *sizes.rbegin() * kXMargin, true},
           .y = {low, high, picture.is_log}},
          size_ticks(sizes)};
}

std::string line_svg(const Plot& plot, const PlotLine& line) {
  const LegendEntry entry = entry_of(line);
  std::string path, markers, crosses;
  for (const auto& [x, y] : line.points) {
    const std::string at = fmt::format("{} {}", coordinate(plot.at_x(x)), coordinate(plot.at_y(y)));
    path += (path.empty() ? "M" : " ") + at;
    markers += fmt::format("M{}{}", at, kMarkers[static_cast<std::size_t>(entry.marker)]);
  }
  for (const auto& [x, text] : line.marks) {
    crosses += fmt::format("M{} {}m-3.5-3.5l7 7m0-7l-7 7", coordinate(plot.at_x(x)),
                           coordinate(plot.at_y(1)));
  }
  std::string svg = fmt::format(
      "<path d=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"1.6\"{2}/><path d=\"{3}\" "
      "fill=\"{1}\"/>",
      path, entry.colour, entry.is_dashed ? " stroke-dasharray=\"5 3\"" : "", markers);
  if (crosses.empty()) return svg;
  return svg +
         fmt::format("<path d=\"{}\" stroke=\"{}\" stroke-width=\"1.8\"/>", crosses, entry.colour);
}

std::string panel_svg(const LinePicture& picture, const LinePanel& panel, const Frame& frame) {
  const Plot& plot = frame.plot;
  std::string svg = plot.axes(frame.x_ticks, picture.axis, picture.label, true);
  if (picture.even) {
    svg += fmt::format(
        "<path d=\"M{} {}h{}\" stroke=\"{}\" stroke-width=\"1.6\" "
        "stroke-dasharray=\"5 3\"/>",
        plot.left, coordinate(plot.at_y(1)), plot.width, kReferenceColour);
  }
  std::vector<std::pair<double, std::string>> marks;
  for (const PlotLine& line : panel.lines) {
    svg += line_svg(plot, line);
    marks.insert(marks.end(), line.marks.begin(), line.marks.end());
  }
  // Above and below in turn: two that lie close together stay legible.
  std::ranges::sort(marks);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    svg +=
        svg_text(plot.at_x(marks[i].first), plot.at_y(1) + (i % 2 == 0 ? -7 : 15), marks[i].second);
  }
  return svg;
}

// At the top of a file. Returns its height.
std::string legend_svg(const LinePicture& picture, double width, double* height) {
  std::string svg;
  double x = 10, y = kLegendLine - 6;
  for (const LegendEntry& entry : legend_of(picture)) {
    // As wide as text of this size comes to at most.
    const double needed = 50 + 6.4 * static_cast<double>(entry.name.size());
    if (x > 10 && x + needed > width) {
      x = 10;
      y += kLegendLine;
    }
    svg += fmt::format("<path d=\"M{} {}h26\" stroke=\"{}\" stroke-width=\"1.6\"{}/>",
                       coordinate(x), coordinate(y), entry.colour,
                       entry.is_dashed ? " stroke-dasharray=\"5 3\"" : "");
    if (entry.marker >= 0) {
      svg += fmt::format("<path d=\"M{} {}{}\" fill=\"{}\"/>", coordinate(x + 13), coordinate(y),
                         kMarkers[static_cast<std::size_t>(entry.marker)], entry.colour);
    }
    svg += svg_text(x + 32, y + 4, entry.name, "start");
    x += needed;
  }
  *height = y + kLegendLine;
  return svg;
}

}  // namespace

std::string lines_html(const LinePicture& picture) {
  const Frame frame = frame_of(picture);
  std::string html = legend_html(legend_of(picture)) + "<div class=\"panels\">\n";
  for (const LinePanel& panel : picture.panels) {
    html += fmt::format("<div><p class=\"panel\">{}</p>{}</div>\n", escaped(panel.title),
                        page_svg(frame.plot.whole_width(), frame.plot.whole_height(),
                                 panel.title.empty() ? picture.caption : panel.title,
                                 panel_svg(picture, panel, frame)));
  }
  return figure_html(picture.description, picture.caption, html + "</div>\n");
}

std::string lines_svg_file(const LinePicture& picture) {
  const Frame frame = frame_of(picture);
  const std::size_t rows = (picture.panels.size() + kMostPanels - 1) / kMostPanels;
  // Five are three and two, not four and one.
  const std::size_t columns = (picture.panels.size() + rows - 1) / rows;
  const double width = static_cast<double>(columns) * frame.plot.whole_width();
  double top = 0;
  std::string contents = legend_svg(picture, width, &top);
  const double panel_height = frame.plot.whole_height() + kTitleHeight;
  for (std::size_t i = 0; i < picture.panels.size(); ++i) {
    const double x = static_cast<double>(i % columns) * frame.plot.whole_width();
    const double y = top + static_cast<double>(i / columns) * panel_height;
    contents += fmt::format(
        "<g transform=\"translate({} {})\">{}<g transform=\"translate(0 {})\">{}</g></g>",
        coordinate(x), coordinate(y),
        svg_text(frame.plot.left + frame.plot.width / 2, kTitleHeight - 6, picture.panels[i].title,
                 "middle", " font-weight=\"bold\""),
        kTitleHeight, panel_svg(picture, picture.panels[i], frame));
  }
  const double height = top + static_cast<double>(rows) * panel_height;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2}\" color=\"#1b1f24\" fill=\"#1b1f24\" "
      "font-family=\"DejaVu Sans, sans-serif\" font-size=\"11\"><rect width=\"100%\" "
      "height=\"100%\" fill=\"#ffffff\"/>{3}</svg>\n",
      coordinate(width), coordinate(height), escaped(picture.description), contents);
}

}  // namespace fusegate::ci
