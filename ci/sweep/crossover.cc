#include "ci/sweep/crossover.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>

#include "ci/console/format.h"
#include "ci/sweep/measured_shapes.h"

namespace fusegate::ci {
namespace {

std::vector<RatioPoint> ratios(const Shape& shape, const ByShape& times, const ByShape& against) {
  std::vector<RatioPoint> points;
  for (const auto& [at, splits] : times) {
    const auto same = against.find(at);
    if (at.first != shape || same == against.end()) continue;
    const double factor = speed_up(splits, same->second);
    if (std::isfinite(factor)) points.push_back({at.second, 1 / factor});
  }
  return points;
}

// One of the two ratios is below 1 and the other is not, so their logarithms differ.
double interpolated(const RatioPoint& before, const RatioPoint& after) {
  const double from = std::log(before.ratio);
  const double share = from / (from - std::log(after.ratio));
  return static_cast<double>(before.along) *
         std::pow(static_cast<double>(after.along) / static_cast<double>(before.along), share);
}

std::vector<Crossing> crossings(const std::vector<RatioPoint>& points) {
  std::vector<Crossing> found;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const RatioPoint& before = points[i - 1];
    const RatioPoint& after = points[i];
    if (before.pays() == after.pays()) continue;
    found.push_back({interpolated(before, after), before, after});
  }
  return found;
}

std::set<Shape> shapes_of(const ByShape& measured) {
  std::set<Shape> shapes;
  for (const auto& [at, splits] : measured) shapes.insert(at.first);
  return shapes;
}

}  // namespace

std::vector<Crossover> crossovers(const baselines::Run& run) {
  std::vector<Crossover> all;
  for (const OperationShapes& one : measured_shapes(run)) {
    for (const auto& [implementation, others] : one.compared_with) {
      const ByShape& times = one.implementations.at(implementation);
      for (const std::string& against : others) {
        for (const Shape& shape : shapes_of(times)) {
          auto points = ratios(shape, times, one.implementations.at(against));
          if (points.empty()) continue;
          auto found = crossings(points);
          all.push_back({one.operation, one.dtype, one.axis, shape, implementation, against,
                         std::move(points), std::move(found)});
        }
      }
    }
  }
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
