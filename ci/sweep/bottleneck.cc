#include "ci/sweep/bottleneck.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "baselines/record/benchmark_name.h"

namespace fusegate::ci {
namespace {

// Comparisons with NaN are false: an unknown value never makes a benchmark launch-bound.
bool launches_explain_the_time(const BenchmarkFigures& figures, const RooflineTime& roofline_time,
                               const MeasuredRates& rates) {
  return rates.launch_ns && figures.launches * rates.launch_ns->value > figures.time_ns / 2 &&
         roofline_time.copy_share < 0.5 && roofline_time.gemm_share < 0.5;
}

std::optional<Bottleneck> as_graph(const BenchmarkFigures& figures,
                                   const RooflineTime& roofline_time, const MeasuredRates& rates) {
  if (figures.host_graph_ns >= figures.time_ns) return Bottleneck::kLaunch;
  if (!std::isfinite(roofline_time.ns)) return std::nullopt;
  if (launches_explain_the_time(figures, roofline_time, rates)) return Bottleneck::kLaunch;
  return roofline_time.copy_share > roofline_time.gemm_share ? Bottleneck::kMemory
                                                             : Bottleneck::kCompute;
}

std::optional<Bottleneck> on_stream(const BenchmarkFigures& figures,
                                    std::optional<Bottleneck> as_graph) {
  if (as_graph == Bottleneck::kLaunch || figures.host_ns >= figures.time_ns)
    return Bottleneck::kLaunch;
  return std::isfinite(figures.host_ns) ? as_graph : std::nullopt;
}

}  // namespace

std::string_view bottleneck_name(Bottleneck bottleneck) {
  constexpr std::array<std::string_view, 3> kNames{"launch-bound", "memory-bound", "compute-bound"};
  return kNames.at(static_cast<std::size_t>(bottleneck));
}

Bottlenecks bottlenecks_of(const BenchmarkFigures& figures, const RooflineTime& roofline_time,
                           const MeasuredRates& rates) {
  if (!baselines::parse_benchmark_name(figures.name)) return {};
  Bottlenecks bottlenecks;
  bottlenecks.as_graph = as_graph(figures, roofline_time, rates);
  bottlenecks.on_stream = on_stream(figures, bottlenecks.as_graph);
  return bottlenecks;
}

std::string bottlenecks_text(const Bottlenecks& bottlenecks) {
  const bool differs = bottlenecks.on_stream && bottlenecks.on_stream != bottlenecks.as_graph;
  if (!bottlenecks.as_graph && !differs) return std::string(1, '-');
  std::string text;
  if (bottlenecks.as_graph) text += bottleneck_name(*bottlenecks.as_graph);
  if (bottlenecks.as_graph && differs) text += ", ";
  if (differs) text += fmt::format("{} on a stream", bottleneck_name(*bottlenecks.on_stream));
  return text;
}

}  // namespace fusegate::ci
