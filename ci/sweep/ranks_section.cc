#include "ci/sweep/ranks_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "ci/console/format.h"
#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/sweep_axis.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkName;

constexpr const char* kRanks = "ranks";

// A problem of an operation, however its axes are ordered.
using Problem = std::tuple<std::string, std::string, std::map<std::string, std::int64_t>>;

Problem problem_of(const BenchmarkName& name, const std::string& operation) {
  return {operation, baselines::dtype_text(name), {name.axes.begin(), name.axes.end()}};
}

// By problem, the time of its fastest implementation.
class Fastest {
 public:
  explicit Fastest(const baselines::Run& run) {
    for (const baselines::BenchmarkSeries& series : run.benchmarks) {
      const auto name = baselines::parse_benchmark_name(series.name);
      const double time_ns = benchmark_figures(series).time_ns;
      if (!name || !std::isfinite(time_ns)) continue;
      const auto [known, is_new] = times_.try_emplace(problem_of(*name, name->operation), time_ns);
      if (!is_new) known->second = std::min(known->second, time_ns);
    }
  }
  double at(const Problem& problem) const {
    const auto found = times_.find(problem);
    return found == times_.end() ? std::nan("") : found->second;
  }
  // Of an operation that has fewer axes, as an exchange has.
  double within(const BenchmarkName& name, const std::string& operation) const {
    const Problem whole = problem_of(name, operation);
    for (const auto& [problem, time_ns] : times_) {
      if (std::get<0>(problem) != operation || std::get<1>(problem) != std::get<1>(whole)) continue;
      const auto has = [&](const auto& axis) {
        const auto found = std::get<2>(whole).find(axis.first);
        return found != std::get<2>(whole).end() && found->second == axis.second;
      };
      if (std::ranges::all_of(std::get<2>(problem), has)) return time_ns;
    }
    return std::nan("");
  }

 private:
  std::map<Problem, double> times_;
};

TimeOverRanks time_over_ranks(const BenchmarkName& name, double time_ns,
                              const baselines::AcrossRanks& of, const Fastest& fastest) {
  TimeOverRanks time{.name = name, .time_ns = time_ns};
  Problem work = problem_of(name, of.work);
  auto& axes = std::get<2>(work);
  axes.erase(kRanks);
  time.one_ns = fastest.at(work);
  for (const std::string& axis : of.divided) axes[axis] /= name.axis(kRanks);
  time.work_ns = fastest.at(work);
  if (of.exchanges.empty()) return time;
  time.exchange_ns = 0;
  for (const std::string& exchange : of.exchanges) {
    time.exchange_ns += fastest.within(name, exchange);
  }
  return time;
}

std::string time_text(double ns) { return std::isfinite(ns) ? format_time_ns(ns) : "-"; }

// Speed-ups over one device along M, a panel a shape.
std::optional<LinePicture> speed_up_picture(const std::string& operation,
                                            const std::vector<const TimeOverRanks*>& times) {
  std::map<Shape, std::map<std::string, std::vector<std::pair<double, double>>>> panels;
  std::map<std::string, int> styles;
  std::vector<BenchmarkName> names;
  for (const TimeOverRanks* const time : times) names.push_back(time->name);
  const SweepAxes axes(names);
  std::string axis;
  for (const TimeOverRanks* const time : times) {
    if (!std::isfinite(time->speed_up())) continue;
    const SweepPosition at = axes.position(time->name);
    styles.emplace(time->name.implementation, static_cast<int>(styles.size()));
    panels[at.shape][time->name.implementation].emplace_back(at.along, time->speed_up());
    axis = at.axis;
  }
  LinePicture picture{.label = "speed-up over one device",
                      .caption = "Speed-up of " + operation + " over one device, by " + axis,
                      .description = "A line an implementation. Above 1, several devices pay.",
                      .axis = axis,
                      .even = "one device"};
  for (auto& [shape, lines] : panels) {
    LinePanel panel{.title = shape_text(shape)};
    for (auto& [implementation, points] : lines) {
      std::ranges::sort(points);
      if (points.size() < 2) continue;
      panel.lines.push_back(
          {.name = implementation, .style = styles[implementation], .points = std::move(points)});
    }
    if (!panel.lines.empty()) picture.panels.push_back(std::move(panel));
  }
  return picture.panels.empty() ? std::nullopt : std::optional(std::move(picture));
}

// By operation and dtype.
std::map<std::string, std::vector<const TimeOverRanks*>> by_operation(
    const std::vector<TimeOverRanks>& times) {
  std::map<std::string, std::vector<const TimeOverRanks*>> by;
  for (const TimeOverRanks& time : times) {
    by[time.name.operation + ", " + baselines::dtype_text(time.name)].push_back(&time);
  }
  return by;
}

// Without ranks, which the lines go over.
Shape shape_besides_ranks(Shape shape) {
  std::erase_if(shape, [](const auto& axis) { return axis.first == kRanks; });
  return shape;
}

// Speed-ups over one device by how many there are, a line an M, by the fastest implementation.
std::optional<LinePicture> scaling_of(const std::string& operation,
                                      const std::vector<const TimeOverRanks*>& times) {
  std::map<Shape, std::map<std::int64_t, std::map<std::int64_t, double>>> panels;
  std::vector<BenchmarkName> names;
  for (const TimeOverRanks* const time : times) names.push_back(time->name);
  const SweepAxes axes(names);
  std::string axis;
  std::map<std::int64_t, int> styles;
  for (const TimeOverRanks* const time : times) {
    if (!std::isfinite(time->speed_up())) continue;
    const SweepPosition at = axes.position(time->name);
    axis = at.axis;
    styles.emplace(at.along, static_cast<int>(styles.size()));
    double& best = panels[shape_besides_ranks(at.shape)][at.along][time->name.axis(kRanks)];
    best = std::max(best, time->speed_up());
  }
  LinePicture picture{
      .label = "speed-up over one device",
      .caption = "Speed-up of " + operation + " by the number of devices",
      .description = fmt::format("A line a size of {}: its fastest implementation.", axis),
      .axis = kRanks,
      .even = "one device"};
  for (const auto& [shape, by_size] : panels) {
    LinePanel panel{.title = shape_text(shape)};
    for (const auto& [size, by_ranks] : by_size) {
      if (by_ranks.size() < 2) continue;
      panel.lines.push_back({.name = fmt::format("{} {}", axis, size),
                             .style = styles[size],
                             .points = {by_ranks.begin(), by_ranks.end()}});
    }
    if (!panel.lines.empty()) picture.panels.push_back(std::move(panel));
  }
  return picture.panels.empty() ? std::nullopt : std::optional(std::move(picture));
}

}  // namespace

std::vector<TimeOverRanks> times_over_ranks(const baselines::Run& run) {
  std::vector<TimeOverRanks> times;
  if (run.across_ranks.empty()) return times;
  const Fastest fastest(run);
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    const auto name = baselines::parse_benchmark_name(series.name);
    const double time_ns = benchmark_figures(series).time_ns;
    if (!name || !std::isfinite(time_ns) || name->axis(kRanks) == 0) continue;
    const auto of = run.across_ranks.find(name->operation);
    if (of == run.across_ranks.end()) continue;
    times.push_back(time_over_ranks(*name, time_ns, of->second, fastest));
  }
  return times;
}

std::optional<LinePicture> scaling_picture(const std::vector<TimeOverRanks>& times) {
  for (const auto& [operation, of] : by_operation(times)) {
    if (auto picture = scaling_of(operation, of)) return picture;
  }
  return std::nullopt;
}

Section ranks_section(const std::vector<TimeOverRanks>& times) {
  Section section{.title = "Over several devices",
                  .table = Table({{"operation"},
                                  {"problem"},
                                  {"implementation", Align::kLeft, true},
                                  {"time", Align::kRight},
                                  {"a rank's work alone", Align::kRight},
                                  {"exchange alone", Align::kRight},
                                  {"exchange hidden", Align::kRight},
                                  {"on one device", Align::kRight},
                                  {"speed-up", Align::kRight}}),
                  .fold = Fold::kInMarkdown};
  for (const TimeOverRanks& time : times) {
    const bool knows_hidden = std::isfinite(time.hidden());
    section.table.add_row(
        {time.name.operation, baselines::problem_text(time.name), time.name.implementation,
         format_time_ns(time.time_ns), time_text(time.work_ns), time_text(time.exchange_ns),
         knows_hidden ? format_share(time.hidden()) : "-", time_text(time.one_ns),
         std::isfinite(time.speed_up()) ? format_factor(time.speed_up()) + "x" : "-"});
  }
  if (times.empty()) return section;
  section.sentences = {
      "The time is that of the last rank. Beside it, by the fastest implementation of each: what a "
      "rank computes without the others, what they exchange without computing, and the whole on "
      "one device."};
  for (const auto& [operation, of] : by_operation(times)) {
    for (auto& picture : {speed_up_picture(operation, of), scaling_of(operation, of)}) {
      if (picture) section.pictures.emplace_back(*picture);
    }
  }
  return section;
}

}  // namespace fusegate::ci
