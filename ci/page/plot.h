// Axes of a plot in SVG: scales, ticks, and where a point lies. Lengths are CSS pixels.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusegate::ci {

using Ticks = std::vector<std::pair<double, std::string>>;

struct Scale {
  double low = 0;
  double high = 1;
  bool is_log = false;

  double share(double value) const;  // 0 at low, 1 at high
  // Round figures, as many as fit.
  Ticks ticks() const;
};

struct Plot {
  Scale x, y;
  double left = 58, top = 8, width = 245, height = 163;

  double at_x(double value) const { return left + width * x.share(value); }
  double at_y(double value) const { return top + height * (1 - y.share(value)); }
  double right() const { return left + width; }
  double bottom() const { return top + height; }
  double whole_width() const { return right() + 10; }
  double whole_height() const { return bottom() + 43; }

  // Axes, ticks and their labels; lines through the ticks where with_grid.
  std::string axes(const Ticks& x_ticks, std::string_view x_label, std::string_view y_label,
                   bool with_grid) const;
};

// A text at that point. anchor: start, middle or end.
std::string svg_text(double x, double y, std::string_view text, std::string_view anchor = "middle",
                     std::string_view more = "");

// contents as a picture on a page, no larger than that, with a name for those who cannot see it.
std::string page_svg(double width, double height, std::string_view description,
                     std::string_view contents);

}  // namespace fusegate::ci
