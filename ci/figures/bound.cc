#include "ci/figures/bound.h"

#include <fmt/format.h>

#include <cmath>

#include "baselines/record/benchmark_name.h"

namespace fusegate::ci {
namespace {

// Comparisons with NaN are false, so that what is not known makes nothing launch-bound.
bool launches_explain_the_time(const BenchmarkFigures& figures, const Yardstick& yardstick,
                               const MeasuredRates& rates) {
  return rates.launch_ns && figures.launches * rates.launch_ns->value > figures.time_ns / 2 &&
         yardstick.copy_share < 0.5 && yardstick.gemm_share < 0.5;
}

std::optional<Bound> as_graph(const BenchmarkFigures& figures, const Yardstick& yardstick,
                              const MeasuredRates& rates) {
  if (figures.host_graph_ns >= figures.time_ns) return Bound::kLaunch;
  if (!std::isfinite(yardstick.ns)) return std::nullopt;
  if (launches_explain_the_time(figures, yardstick, rates)) return Bound::kLaunch;
  return yardstick.copy_share > yardstick.gemm_share ? Bound::kMemory : Bound::kCompute;
}

std::optional<Bound> on_stream(const BenchmarkFigures& figures, std::optional<Bound> as_graph) {
  if (as_graph == Bound::kLaunch || figures.host_ns >= figures.time_ns) return Bound::kLaunch;
  return std::isfinite(figures.host_ns) ? as_graph : std::nullopt;
}

}  // namespace

std::string_view bound_name(Bound bound) {
  switch (bound) {
    case Bound::kLaunch:
      return "launch-bound";
    case Bound::kMemory:
      return "memory-bound";
    case Bound::kCompute:
      return "compute-bound";
  }
  return "";
}

BoundClass class_of(const BenchmarkFigures& figures, const Yardstick& yardstick,
                    const MeasuredRates& rates) {
  if (!baselines::parse_benchmark_name(figures.name)) return {};
  BoundClass bound;
  bound.as_graph = as_graph(figures, yardstick, rates);
  bound.on_stream = on_stream(figures, bound.as_graph);
  return bound;
}

std::string format_class(const BoundClass& bound) {
  const bool differs = bound.on_stream && bound.on_stream != bound.as_graph;
  if (!bound.as_graph && !differs) return std::string(1, '-');
  std::string text;
  if (bound.as_graph) text += bound_name(*bound.as_graph);
  if (bound.as_graph && differs) text += ", ";
  if (differs) text += fmt::format("{} on a stream", bound_name(*bound.on_stream));
  return text;
}

}  // namespace fusegate::ci
