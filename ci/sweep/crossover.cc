#include "ci/sweep/crossover.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "baselines/record/benchmark_name.h"
#include "ci/console/format.h"
#include "ci/sweep/benchmark_figures.h"

namespace fusegate::ci {
namespace {

struct Pair {
  std::string_view implementation;
  std::string_view against;
  std::string_view unless;  // not where this one was measured; empty: always
};

// Of any operation that has both.
constexpr std::array<Pair, 7> kPairs{{
    {"addmm", "matmul_add", ""},
    {"fused", "unfused", ""},
    {"fused_pointwise", "unfused", ""},
    {"fused_epilogue", "fused_pointwise", ""},
    {"fused_epilogue", "packed_pointwise", ""},
    {"fused_epilogue_sm80", "fused_pointwise", ""},
    {"fused_epilogue", "unfused", "fused_pointwise"},
}};

using Times = std::map<std::int64_t, std::map<Shape, double>>;  // by M, then how that is split
using ByImplementation = std::map<std::string, Times, std::less<>>;
// By operation, dtype and axis.
using Sweeps =
    std::map<std::tuple<std::string, std::string, std::string>, std::map<Shape, ByImplementation>>;

Sweeps times_of(const baselines::Run& run) {
  Sweeps sweeps;
  const SweepAxes axes(benchmark_names(run));
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    const auto name = baselines::parse_benchmark_name(series.name);
    const double time_ns = benchmark_figures(series).time_ns;
    if (!name || !std::isfinite(time_ns)) continue;
    const SweepPosition position = axes.position(*name);
    sweeps[{name->operation, name->dtype, position.axis}][position.shape][name->implementation]
          [position.along][position.split] = time_ns;
  }
  return sweeps;
}

std::optional<double> mean_ratio(const std::map<Shape, double>& times,
                                 const std::map<Shape, double>& against) {
  double log_sum = 0;
  int count = 0;
  for (const auto& [split, time_ns] : times) {
    const auto same = against.find(split);
    if (same == against.end()) continue;
    log_sum += std::log(time_ns / same->second);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(log_sum / count);
}

std::vector<RatioPoint> ratios(const Times& times, const Times& against) {
  std::vector<RatioPoint> points;
  for (const auto& [along, splits] : times) {
    const auto same = against.find(along);
    if (same == against.end()) continue;
    if (const auto ratio = mean_ratio(splits, same->second)) points.push_back({along, *ratio});
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

}  // namespace

std::vector<Crossover> crossovers(const baselines::Run& run) {
  std::vector<Crossover> all;
  for (const auto& [key, shapes] : times_of(run)) {
    const auto& [operation, dtype, axis] = key;
    for (const Pair& pair : kPairs) {
      for (const auto& [shape, implementations] : shapes) {
        const auto fused = implementations.find(pair.implementation);
        const auto against = implementations.find(pair.against);
        if (fused == implementations.end() || against == implementations.end()) continue;
        if (!pair.unless.empty() && implementations.contains(pair.unless)) continue;
        const std::vector<RatioPoint> points = ratios(fused->second, against->second);
        if (points.empty()) continue;
        all.push_back({operation, dtype, axis, shape, std::string(pair.implementation),
                       std::string(pair.against), points, crossings(points)});
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
