#include "ci/sweep/crossover.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using RatioPoints = std::vector<RatioPoint>;

std::map<Shape, RatioPoints> ratios(const SweepSeries& series, const SweepSeries& against) {
  std::map<Shape, RatioPoints> by_shape;
  for (const SweepPoint& point : series.points) {
    const SweepPoint* const same = same_point(against, point);
    const double factor = same != nullptr ? speed_up(point.splits, same->splits) : std::nan("");
    if (std::isfinite(factor)) by_shape[point.shape].push_back({point.along, 1 / factor});
  }
  return by_shape;
}

// One of the two ratios is below 1 and the other is not, so their logarithms differ.
double interpolated(const RatioPoint& before, const RatioPoint& after) {
  const double from = std::log(before.ratio);
  const double share = from / (from - std::log(after.ratio));
  return static_cast<double>(before.along) *
         std::pow(static_cast<double>(after.along) / static_cast<double>(before.along), share);
}

std::vector<Crossing> crossings(const RatioPoints& points) {
  std::vector<Crossing> found;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const RatioPoint& before = points[i - 1];
    const RatioPoint& after = points[i];
    if (before.pays() == after.pays()) continue;
    found.push_back({interpolated(before, after), before, after});
  }
  return found;
}

}  // namespace

std::vector<Crossover> crossovers(const std::vector<ShapeSweep>& sweeps) {
  std::vector<Crossover> all;
  for (const ShapeSweep& sweep : sweeps) {
    for (const SweepSeries& series : sweep.series) {
      for (const std::string& name : series.compared_with) {
        const auto against = std::ranges::find(sweep.series, name, &SweepSeries::implementation);
        for (auto& [shape, points] : ratios(series, *against)) {
          auto found = crossings(points);
          all.push_back({sweep.operation, sweep.dtype, sweep.axis, shape, series.implementation,
                         name, std::move(points), std::move(found)});
        }
      }
    }
  }
  std::ranges::stable_sort(all, {}, [](const Crossover& one) {
    return std::tie(one.operation, one.dtype, one.axis, one.implementation);
  });
  return all;
}

std::string crossover_text(const Crossover& crossover) {
  if (crossover.crossings.empty()) {
    const std::int64_t first = crossover.points.front().along;
    const std::int64_t last = crossover.points.back().along;
    return fmt::format(
        "{} pays, {} {}", crossover.points.front().pays() ? "always" : "never", crossover.axis,
        first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last));
  }
  std::string text;
  for (const Crossing& crossing : crossover.crossings) {
    text += fmt::format("{}{} at {} {:.0f} ({} at {}, {} at {})", text.empty() ? "" : "; ",
                        crossing.before.pays() ? "stops paying" : "starts paying", crossover.axis,
                        crossing.along, format_rate(crossing.before.ratio), crossing.before.along,
                        format_rate(crossing.after.ratio), crossing.after.along);
  }
  return text;
}

}  // namespace fusegate::ci
