#include "ci/sweep/benchmark_figures.h"

#include <cmath>
#include <limits>

namespace fusegate::ci {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double counter(const baselines::BenchmarkSeries& series, const std::string& name) {
  const auto found = series.counters.find(name);
  return found == series.counters.end() ? kNan : found->second;
}

}  // namespace

BenchmarkFigures benchmark_figures(const baselines::BenchmarkSeries& series) {
  const auto n = static_cast<double>(series.processes.size());
  double sum = 0;
  for (const auto& process : series.processes) sum += std::log(process.time_ns);
  double squares = 0;
  for (const auto& process : series.processes) {
    squares += std::pow(std::log(process.time_ns) - sum / n, 2);
  }
  BenchmarkFigures figures;
  figures.name = series.name;
  figures.time_ns = n > 0 ? std::exp(sum / n) : kNan;
  figures.spread = n > 1 ? std::sqrt(squares / (n - 1)) : kNan;
  figures.launches = counter(series, "kernel_launches");
  figures.flops = counter(series, "flops");
  figures.min_bytes = counter(series, "min_bytes");
  figures.tflops = figures.flops / figures.time_ns / 1e3;
  figures.gbps = figures.min_bytes / figures.time_ns;
  figures.energy_j = counter(series, baselines::kEnergyPerCall);
  figures.host_ns = counter(series, "host_ns");
  figures.host_graph_ns = counter(series, "host_graph_ns");
  figures.memory_bytes = counter(series, "memory_bytes");
  figures.kept_bytes = counter(series, "kept_bytes");
  figures.failure = series.failure;
  figures.is_control = series.is_control;
  return figures;
}

std::vector<BenchmarkFigures> benchmark_figures(const baselines::Run& run) {
  std::vector<BenchmarkFigures> all;
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    if (!series.is_unmeasured()) all.push_back(benchmark_figures(series));
  }
  return all;
}

}  // namespace fusegate::ci
