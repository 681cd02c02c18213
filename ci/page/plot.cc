#include "ci/page/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ci/page/html.h"

namespace fusegate::ci {
namespace {

constexpr int kMostIntervals = 6;

// Five digits would run into the axis's label.
std::string tick_text(double value) {
  return value >= 10000 ? fmt::format("{:g}k", value / 1000) : fmt::format("{:.6g}", value);
}

Ticks log_ticks(double low, double high) {
  // Where less than two powers of ten lie in between.
  const bool is_short = high / low < 100;
  Ticks ticks;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * decade;
      if (value < low || value > high || (digit > 1 && !is_short)) continue;
      ticks.emplace_back(value, tick_text(value));
    }
  }
  return ticks;
}

Ticks linear_ticks(double low, double high) {
  const double raw = (high - low) / kMostIntervals;
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * decade;
  for (const double digit : {5.0, 2.5, 2.0, 1.0}) {
    if (digit * decade >= raw * (1 - 1e-9)) step = digit * decade;
  }
  Ticks ticks;
  for (auto i = static_cast<long>(std::ceil(low / step - 1e-9)); i * step <= high; ++i) {
    ticks.emplace_back(i * step, tick_text(i * step));
  }
  return ticks;
}

}  // namespace

double Scale::share(double value) const {
  if (is_log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

Ticks Scale::ticks() const { return is_log ? log_ticks(low, high) : linear_ticks(low, high); }

std::string svg_text(double x, double y, std::string_view text, std::string_view anchor,
                     std::string_view more) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>", coordinate(x),
                     coordinate(y), anchor, more, escaped(text));
}

std::string Plot::axes(const Ticks& x_ticks, std::string_view x_label, std::string_view y_label,
                       bool with_grid) const {
  std::string grid, ticks, texts;
  for (const auto& [value, text] : x_ticks) {
    const std::string at = coordinate(at_x(value));
    grid += fmt::format("M{} {}v{}", at, top, height);
    ticks += fmt::format("M{} {}v3", at, bottom());
    texts += svg_text(at_x(value), bottom() + 15, text);
  }
  for (const auto& [value, text] : y.ticks()) {
    const std::string at = coordinate(at_y(value));
    grid += fmt::format("M{} {}h{}", left, at, width);
    ticks += fmt::format("M{} {}h-3", left, at);
    texts += svg_text(left - 6, at_y(value) + 4, text, "end");
  }
  texts += svg_text(left + width / 2, bottom() + 34, x_label);
  const double middle = top + height / 2;
  texts += svg_text(12, middle, y_label, "middle",
                    fmt::format(" transform=\"rotate(-90 12 {})\"", coordinate(middle)));
  const std::string spines = fmt::format("M{} {}v{}h{}", left, top, height, width);
  return fmt::format("{}<path d=\"{}{}\" fill=\"none\" stroke=\"currentColor\"/>{}",
                     with_grid ? fmt::format("<path d=\"{}\" stroke=\"currentColor\" "
                                             "stroke-opacity=\".15\"/>",
                                             grid)
                               : "",
                     spines, ticks, texts);
}

std::string page_svg(double width, double height, std::string_view description,
                     std::string_view contents) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" style=\"width:{0}px\" role=\"img\" aria-label=\"{2}\" "
      "fill=\"currentColor\" font-size=\"11\">{3}</svg>",
      coordinate(width), coordinate(height), escaped(description), contents);
}

}  // namespace fusegate::ci
