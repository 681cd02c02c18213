// One benchmark over all nights, and over the processes of one. What is drawn is stretched to the
// page's width, so that nights stand above each other in all pictures of a page; texts are the
// page's own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/page/html.h"
#include "ci/page/pictures.h"
#include "ci/page/plot.h"

namespace fusegate::ci {
namespace {

// The unit of the upright axis: finer figures are not read off a picture, and take more characters.
constexpr double kFinestUnit = 2e-4;
constexpr double kMostUnits = 400;
// Compared with the median of as many nights: one alone may be an odd one.
constexpr std::size_t kReferenceNights = 7;

double median_of_first(const std::vector<double>& values) {
  std::vector<double> first;
  for (const double value : values) {
    if (std::isfinite(value) && first.size() < kReferenceNights) first.push_back(value);
  }
  if (first.empty()) return NAN;
  std::ranges::sort(first);
  const std::size_t half = first.size() / 2;
  return first.size() % 2 == 1 ? first[half] : (first[half - 1] + first[half]) / 2;
}

// Rows of a grid with `units` from the top of the picture to its end.
struct Upright {
  double reference = 0;  // the logarithm of an effect of nothing
  double top = 0;        // the largest, over the reference
  double unit = kFinestUnit;
  long height = 1;

  long at(double value) const { return std::lround((top - (value - reference)) / unit); }
};

Upright upright_of(const HistoryPicture& picture) {
  Upright upright{.reference = median_of_first(picture.values)};
  double low = 0, high = 0;
  for (const double value : picture.values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value - upright.reference);
    high = std::max(high, value - upright.reference);
  }
  const double margin = std::max(0.08 * (high - low), 5 * kFinestUnit);
  upright.unit = std::max(kFinestUnit, (high - low + 2 * margin) / kMostUnits);
  // Whole units, so that the script can read the figures from the path.
  upright.top = std::ceil((high + margin) / upright.unit) * upright.unit;
  upright.height = std::max(1L, upright.at(upright.reference + low - margin));
  return upright;
}

// Each stretch of nights begins with "m"; its first pair is relative to the end of the one before,
// or to the picture's corner. A stretch of one night ends in "h0", which draws a dot.
std::string path_of(const HistoryPicture& picture, const Upright& upright) {
  std::string path;
  std::size_t nights = 0;  // of the stretch
  long last_x = 0, last_y = 0;
  const auto end_stretch = [&] { path += nights == 1 ? "h0" : ""; };
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    if (!std::isfinite(picture.values[i])) continue;
    const long x = static_cast<long>(i), y = upright.at(picture.values[i]);
    const bool is_first = path.empty() || x != last_x + 1 || picture.is_break[i];
    if (is_first) end_stretch();
    nights = is_first ? 1 : nights + 1;
    path += fmt::format("{}{}{}{}", is_first ? "m" : " ", x - last_x, y < last_y ? "" : " ",
                        y - last_y);
    last_x = x;
    last_y = y;
  }
  end_stretch();
  return path;
}

std::string effect_text(double log_effect) {
  return log_effect == 0 ? "0 %" : fmt::format("{:+.3g} %", 100 * std::expm1(log_effect));
}

// Lines through round effects, and their names beside the picture.
void add_grid(const Upright& upright, std::size_t nights, std::string* grid, std::string* names) {
  const double low = upright.top - static_cast<double>(upright.height) * upright.unit;
  for (const auto& [percent, text] : Scale{100 * low, 100 * upright.top}.ticks()) {
    const double log_effect = std::log1p(percent / 100);
    const long y = upright.at(upright.reference + log_effect);
    if (y < 0 || y > upright.height) continue;
    *grid += fmt::format("M-1 {}h{}", y, nights + 1);
    *names += fmt::format("<span style=\"top:{:.0f}%\">{}</span>",
                          100.0 * static_cast<double>(y) / static_cast<double>(upright.height),
                          effect_text(log_effect));
  }
}

std::string marks_of(const HistoryPicture& picture, long height) {
  std::string svg;
  for (const HistoryPicture::Mark& mark : picture.marks) {
    svg += fmt::format("<path class=\"{}\" d=\"M{} 0v{}\"><title>{}</title></path>",
                       mark.is_slower ? "slower" : "faster", static_cast<double>(mark.night) - 0.5,
                       height, escaped(mark.text));
  }
  return svg;
}

}  // namespace

std::string history_html(const HistoryPicture& picture) {
  const std::size_t nights = picture.values.size();
  const Upright upright = upright_of(picture);
  const std::string path = path_of(picture, upright);
  if (path.empty()) return "";
  std::string grid, names;
  add_grid(upright, nights, &grid, &names);
  std::string html = fmt::format(
      "<div class=\"plot\"><div class=\"names\" aria-hidden=\"true\">{}</div><svg "
      "class=\"nights\" viewBox=\"-.5 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\" data-unit=\"{:.4g}\" data-zero=\"{}\"><path class=\"grid\" "
      "d=\"{}\"/>{}<path class=\"run\" d=\"{}\"/></svg></div>\n",
      names, nights, upright.height, escaped(picture.description), upright.unit,
      upright.at(upright.reference), grid, marks_of(picture, upright.height), path);
  if (!picture.strip.empty()) {
    html += fmt::format(
        "<div class=\"plot\"><img class=\"names\" src=\"{}\" alt=\"\" height=\"{}\"><img "
        "class=\"nights\" src=\"{}\" alt=\"Months, commits, drivers, cards\" "
        "height=\"{}\"></div>\n",
        escaped(picture.strip_names), picture.strip_height, escaped(picture.strip),
        picture.strip_height);
  }
  return fmt::format("<figure class=\"history\">\n<figcaption>{}</figcaption>\n{}</figure>\n",
                     escaped(picture.caption), html);
}

std::string strip_html(const StripPicture& picture) {
  double low = INFINITY, high = -INFINITY;
  for (const StripPicture::Row& row : picture.rows) {
    low = std::min(low, row.value - row.spread);
    high = std::max(high, row.value + row.spread);
  }
  const double scale = high > low ? 1000 / (high - low) : 0;
  const auto at = [&](double value) { return std::lround((value - low) * scale); };
  std::string dots[2], whiskers[2], names;  // of the candidate, of the baseline
  for (std::size_t i = 0; i < picture.rows.size(); ++i) {
    const StripPicture::Row& row = picture.rows[i];
    const std::size_t y = 10 * i + 5;
    dots[row.is_baseline] += fmt::format("M{} {}h0", at(row.value), y);
    whiskers[row.is_baseline] +=
        fmt::format("M{} {}H{}", at(row.value - row.spread), y, at(row.value + row.spread));
    names += fmt::format("<span>{}</span>", escaped(row.name));
  }
  std::string paths;
  for (const int side : {0, 1}) {
    if (dots[side].empty()) continue;
    paths += fmt::format("<g class=\"{}\"><path d=\"{}\"/><path class=\"dots\" d=\"{}\"/></g>",
                         side == 1 ? "baseline" : "candidate", whiskers[side], dots[side]);
  }
  const std::size_t height = 10 * picture.rows.size();
  return fmt::format(
      "<figure class=\"strip\">\n<figcaption>{}</figcaption>\n<div class=\"plot\"><div "
      "class=\"names\">{}</div><svg viewBox=\"-12 0 1024 {}\" style=\"height:{}px\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{}</svg></div>\n<p "
      "class=\"ends soft\"><span>{}</span><span>{}</span></p>\n</figure>\n",
      escaped(picture.caption), names, height, 18 * picture.rows.size(),
      escaped(picture.description), paths, escaped(picture.low), escaped(picture.high));
}

}  // namespace fusegate::ci
