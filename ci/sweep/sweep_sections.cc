#include "ci/sweep/sweep_sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

#include "baselines/record/benchmark_name.h"
#include "ci/console/format.h"
#include "ci/sweep/bottleneck.h"

namespace fusegate::ci {
namespace {

using Points = std::map<Shape, std::vector<std::pair<double, double>>>;  // of M, figure

// A line begins at two points, and a map at two cells: one alone says what the table does.
constexpr std::size_t kFewestDrawn = 2;

// "M" with its definition.
std::string axis_text(const std::string& axis) { return axis == "M" ? "M = batch x seq" : axis; }

// Panels by shape, of lines over M. A style is the same colour and marker in all pictures of a
// sweep.
class Panels {
 public:
  explicit Panels(std::string axis) : axis_(std::move(axis)) {}

  void add(const Shape& shape, PlotLine line) { lines_[shape].push_back(std::move(line)); }
  // The picture with its panels; nothing where none has a line to draw.
  std::optional<LinePicture> picture(LinePicture picture) const {
    for (const auto& [shape, lines] : lines_) {
      if (std::ranges::none_of(lines, is_drawn)) continue;
      picture.panels.push_back({shape_text(shape), lines});
    }
    if (picture.panels.empty()) return std::nullopt;
    picture.axis = axis_;
    return picture;
  }

 private:
  static bool is_drawn(const PlotLine& line) { return line.points.size() >= kFewestDrawn; }

  std::string axis_;
  std::map<Shape, std::vector<PlotLine>> lines_;
};

void add_picture(auto picture, Section* section) {
  if (picture) section->pictures.push_back(std::move(*picture));
}

Panels sweep_panels(const ShapeSweep& sweep, double SweepPoint::*figure, double scale,
                    bool with_reference) {
  Panels panels(sweep.axis);
  int next_style = 0;
  for (const SweepSeries& series : sweep.series) {
    const bool is_reference = series.implementation == sweep.reference;
    const int style = is_reference ? kReferenceStyle : next_style++;
    if (is_reference && !with_reference) continue;
    Points points;
    for (const SweepPoint& point : series.points) {
      if (!std::isfinite(point.*figure)) continue;
      points[point.shape].emplace_back(point.along, point.*figure * scale);
    }
    for (auto& [shape, list] : points) {
      panels.add(shape, {series.implementation, style, std::move(list)});
    }
  }
  return panels;
}

std::string speed_up_description(const ShapeSweep& sweep) {
  std::vector<std::string> parts;
  for (const SweepSeries& series : sweep.series) {
    const SweepSummary summary = summarise(series);
    if (series.implementation == sweep.reference || summary.points == 0) continue;
    parts.push_back(fmt::format("{}: {} times as fast on average, faster at {} of {} shapes",
                                series.implementation, format_factor(summary.mean_speed_up),
                                summary.faster, summary.points));
  }
  return fmt::format("{} in {} against {}. {}.", sweep.operation, sweep.dtype, sweep.reference,
                     fmt::join(parts, "; "));
}

std::optional<LinePicture> speed_up_picture(const ShapeSweep& sweep) {
  if (sweep.reference.empty()) return std::nullopt;
  const Panels panels = sweep_panels(sweep, &SweepPoint::speed_up, 1, false);
  return panels.picture(
      {.label = fmt::format("times as fast as {}", sweep.reference),
       .caption = fmt::format("Speed-up of {} in {} over {}, by {}.", sweep.operation, sweep.dtype,
                              sweep.reference, axis_text(sweep.axis)),
       .description = speed_up_description(sweep),
       .even = sweep.reference});
}

// A map an implementation: M upwards, shapes to the right.
std::optional<MapPicture> map_picture(const ShapeSweep& sweep) {
  MapPicture map{
      .caption = fmt::format("Times as fast as {}. Blue: faster; red: slower.", sweep.reference),
      .description = speed_up_description(sweep),
      .axis = sweep.axis};
  for (const SweepSeries& series : sweep.series) {
    std::vector<MapCell> cells;
    for (const SweepPoint& point : series.points) {
      map.shape_axes = fmt::format("{}", fmt::join(point.shape | std::views::keys, " above "));
      if (!std::isfinite(point.speed_up) || series.implementation == sweep.reference) continue;
      const auto sizes = point.shape | std::views::values;
      cells.push_back({{sizes.begin(), sizes.end()},
                       point.along,
                       point.speed_up,
                       format_factor(point.speed_up)});
    }
    if (cells.size() < kFewestDrawn) continue;
    map.maps.emplace_back(series.implementation, std::move(cells));
  }
  if (map.maps.empty()) return std::nullopt;
  return map;
}

void add_rate_picture(const ShapeSweep& sweep, double SweepPoint::*figure, const std::string& label,
                      std::string_view what, std::string_view work, Section* section) {
  add_picture(
      sweep_panels(sweep, figure, 1, true)
          .picture({.label = label,
                    .caption = fmt::format(
                        "{} achieved by {} in {}: the operation's own {} over its time.", what,
                        sweep.operation, sweep.dtype, work),
                    .description = fmt::format("{} of {} in {} over {}, a line an implementation.",
                                               label, sweep.operation, sweep.dtype, sweep.axis),
                    .is_from_zero = true}),
      section);
}

// Where there is nothing to be faster than, its time and rates alone.
Section pictures_part(const ShapeSweep& sweep) {
  const std::string title = fmt::format("{}, {}", sweep.operation, sweep.dtype);
  const std::string name = fmt::format("{} in {}", sweep.operation, sweep.dtype);
  Section part{.title = title, .is_page_only = true};
  Section more{.title = title + ": time, arithmetic and memory traffic"};
  add_picture(speed_up_picture(sweep), &part);
  add_picture(map_picture(sweep), &part);
  add_picture(sweep_panels(sweep, &SweepPoint::time_ns, 1e-3, true)
                  .picture({.label = "time, us",
                            .caption = fmt::format("Time of {}, both axes logarithmic.", name),
                            .description = fmt::format(
                                "Time of {} over {}, a line an implementation.", name, sweep.axis),
                            .is_log = true}),
              &more);
  add_rate_picture(sweep, &SweepPoint::tflops, "TFLOP/s", "Arithmetic", "floating-point operations",
                   &more);
  add_rate_picture(sweep, &SweepPoint::gbps, "GB/s", "Memory traffic", "least traffic", &more);
  if (part.pictures.empty()) {
    part.pictures = std::move(more.pictures);
    return part;
  }
  more.fold = Fold::kAlways;
  part.parts = {std::move(more)};
  return part;
}

std::string point_text(const ShapeSweep& sweep, const SweepPoint& point) {
  return fmt::format("{}x at {} {}{}{}", format_factor(point.speed_up), sweep.axis, point.along,
                     point.shape.empty() ? "" : ", ", shape_text(point.shape));
}

// Of one operation and dtype.
std::optional<LinePicture> crossover_picture(const std::vector<const Crossover*>& crossovers) {
  const std::string& axis = crossovers.front()->axis;
  Panels panels(axis);
  std::vector<std::string> pairs;
  std::vector<std::string> sentences;
  for (const Crossover* one : crossovers) {
    const std::string pair = fmt::format("{} / {}", one->implementation, one->against);
    const Shape& shape = one->shape;
    const auto known = std::ranges::find(pairs, pair);
    PlotLine line{pair, static_cast<int>(known - pairs.begin())};
    if (known == pairs.end()) pairs.push_back(pair);
    for (const RatioPoint& point : one->points) line.points.emplace_back(point.along, point.ratio);
    for (const Crossing& crossing : one->crossings) {
      line.marks.emplace_back(crossing.along, fmt::format("{} {:.0f}", axis, crossing.along));
    }
    panels.add(shape, std::move(line));
    sentences.push_back(fmt::format("{}{}{}: {}", shape_text(shape), shape.empty() ? "" : ", ",
                                    pair, crossover_text(*one)));
  }
  const std::string of =
      fmt::format("{} in {}", crossovers.front()->operation, crossovers.front()->dtype);
  return panels.picture(
      {.label = "time over the other's",
       .caption = fmt::format("Time of {} over the less fused one's. Below 1 fusion pays; a cross "
                              "marks where the ratio crosses 1.",
                              of),
       .description = fmt::format("{}. {}.", of, fmt::join(sentences, "; ")),
       .even = ""});
}

std::optional<Roof> roof(const MeasuredRate* rate, std::string_view name, std::string_view unit) {
  if (rate == nullptr) return std::nullopt;
  return Roof{rate->value, fmt::format("{} rate, {} {}", name, format_rate(rate->value), unit)};
}

std::string class_name(const Bottlenecks& bottlenecks) {
  return bottlenecks.as_graph ? std::string(bottleneck_name(*bottlenecks.as_graph))
                              : "class not known";
}

std::string tooltip(const BenchmarkFigures& figures, const RooflineTime& roofline_time,
                    const Bottlenecks& bottlenecks) {
  const std::string how = bottlenecks_text(bottlenecks);
  std::string text = fmt::format(
      "{}\n{}\n{} TFLOP/s, {} FLOP/byte", figures.name, how == "-" ? class_name(bottlenecks) : how,
      format_rate(figures.tflops), format_rate(figures.flops / figures.min_bytes));
  const auto add_share = [&](double share, const char* rate) {
    if (std::isfinite(share)) text += fmt::format("\n{} of the {} rate", format_share(share), rate);
  };
  add_share(roofline_time.copy_share, "copy");
  add_share(roofline_time.gemm_share, "GEMM");
  return text;
}

RooflinePoint roofline_point(const BenchmarkFigures& figures, const std::string& operation,
                             const MeasuredRates& rates) {
  const RooflineTime roofline_time = roofline_time_of(figures, rates);
  const Bottlenecks bottlenecks = bottlenecks_of(figures, roofline_time, rates);
  return {.intensity = figures.flops / figures.min_bytes,
          .rate = figures.tflops,
          .operation = operation,
          .class_name = class_name(bottlenecks),
          .is_hollow = bottlenecks.on_stream == Bottleneck::kLaunch &&
                       bottlenecks.as_graph != Bottleneck::kLaunch,
          .tooltip = tooltip(figures, roofline_time, bottlenecks)};
}

std::string roofline_caption(const std::string& dtype, const MeasuredRate* gemm,
                             const MeasuredRate* copy) {
  return fmt::format(
      "Roofline in {}. Roofs, as this run measured them: {}; {}.", dtype,
      gemm ? fmt::format("flat: {} TFLOP/s of {}", format_rate(gemm->value), gemm->benchmark)
           : fmt::format("no flat one, for no GEMM in {} was measured that is long enough", dtype),
      copy ? fmt::format("slanted: {} GB/s of {}", format_rate(copy->value), copy->benchmark)
           : "no slanted one, for no copy was measured");
}

RooflinePicture roofline_picture(const std::string& dtype, std::vector<RooflinePoint> points,
                                 const MeasuredRates& rates) {
  const auto found = rates.gemm_tflops.find(dtype);
  const MeasuredRate* gemm = found == rates.gemm_tflops.end() ? nullptr : &found->second;
  const MeasuredRate* copy = rates.copy_gbps ? &*rates.copy_gbps : nullptr;
  std::map<std::string, int> counts;
  for (const RooflinePoint& point : points) ++counts[point.class_name];
  std::vector<std::string> classes;
  for (const auto& [name, count] : counts) classes.push_back(fmt::format("{} {}", count, name));
  const std::string caption = roofline_caption(dtype, gemm, copy);
  return {
      .caption = caption,
      .description = fmt::format("{} {}: {}.", caption, format_count(points.size(), "benchmark"),
                                 fmt::join(classes, ", ")),
      .hollow = "hollow: launch-bound on a stream",
      .gemm = roof(gemm, "GEMM", "TFLOP/s"),
      .copy = roof(copy, "copy", "GB/s"),
      .points = std::move(points)};
}

}  // namespace

Section sweep_section(const std::vector<ShapeSweep>& sweeps) {
  Section section{.title = "Where fusion wins",
                  .table = Table({{"operation"},
                                  {"dtype"},
                                  {"implementation"},
                                  {"against"},
                                  {"mean", Align::kRight},
                                  {"best"},
                                  {"worst"},
                                  {"faster at", Align::kRight}}),
                  .page_order = PageOrder::kSecond};
  for (const ShapeSweep& sweep : sweeps) {
    for (const SweepSeries& series : sweep.series) {
      const SweepSummary summary = summarise(series);
      if (series.implementation == sweep.reference || summary.points == 0) continue;
      section.table.add_row({sweep.operation, sweep.dtype, series.implementation, sweep.reference,
                             format_factor(summary.mean_speed_up) + "x",
                             point_text(sweep, summary.best), point_text(sweep, summary.worst),
                             fmt::format("{} of {}", summary.faster, summary.points)});
    }
    section.parts.push_back(pictures_part(sweep));
  }
  // First those that show where fusion wins.
  std::ranges::stable_partition(section.parts,
                                [](const Section& part) { return !part.parts.empty(); });
  return section;
}

Section crossover_section(const std::vector<Crossover>& crossovers) {
  Section section{.title = "Where fusion stops paying",
                  .table = Table({{"operation"},
                                  {"dtype"},
                                  {"shape"},
                                  {"implementation"},
                                  {"against"},
                                  {"time over the other's"}}),
                  .fold = Fold::kInMarkdown};
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Crossover*>> groups;
  for (const Crossover& one : crossovers) {
    groups[{one.operation, one.dtype, one.axis}].push_back(&one);
    section.table.add_row({one.operation, one.dtype, shape_text(one.shape), one.implementation,
                           one.against, crossover_text(one)});
  }
  if (!groups.empty()) section.sentences.emplace_back(kCrossoverNote);
  for (const auto& [key, group] : groups) add_picture(crossover_picture(group), &section);
  return section;
}

Section roofline_section(const std::vector<BenchmarkFigures>& figures, const MeasuredRates& rates) {
  std::map<std::string, std::vector<RooflinePoint>> points;  // by dtype
  for (const BenchmarkFigures& one : figures) {
    const auto name = baselines::parse_benchmark_name(one.name);
    // What does no arithmetic, such as a copy, cannot be on a logarithmic scale.
    if (!name || !(one.tflops > 0) || !(one.min_bytes > 0)) continue;
    points[name->dtype].push_back(roofline_point(one, name->operation, rates));
  }
  Section section{
      .title = "What bounds each benchmark",
      .sentences =
          {"Colour: which roof is nearer, or launches where they explain most of the time, with "
           "all kernels in one graph. Hollow: on a stream, kernel by kernel, the host's launches "
           "take longer than the GPU's work. A point's name and shares show under the pointer. "
           "Above a roof lies what beats the benchmark that the roof was measured with, above the "
           "slanted one mostly because the L2 serves it from one launch to the next."},
      .is_page_only = true};
  for (auto& [dtype, list] : points) {
    section.pictures.push_back(roofline_picture(dtype, std::move(list), rates));
  }
  return points.empty() ? Section{} : section;
}

std::optional<LinePicture> main_picture(const std::vector<ShapeSweep>& sweeps) {
  std::optional<LinePicture> most;
  std::size_t implementations = 0;
  for (const ShapeSweep& sweep : sweeps) {
    if (sweep.series.size() <= implementations) continue;
    if (auto picture = speed_up_picture(sweep)) {
      most = std::move(picture);
      implementations = sweep.series.size();
    }
  }
  return most;
}

}  // namespace fusegate::ci
