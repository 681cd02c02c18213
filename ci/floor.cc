#include "ci/floor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/benchmark_name.h"
#include "ci/format.h"

namespace fusegate {
namespace {

constexpr double kShortestGemmNs = 20e3;

bool is_gemm(const BenchmarkName& name) {
  return name.operation == "linear" || name.operation == "control_gemm";
}

// Comparisons with NaN are false, so that what was not recorded is no rate.
void add_gemm(const BenchmarkFigures& figures, const std::string& dtype, FloorRates* rates) {
  if (!(figures.time_ns >= kShortestGemmNs) || !(figures.tflops > 0)) return;
  MeasuredRate& best = rates->gemm_tflops[dtype];
  if (figures.tflops > best.value) best = {figures.tflops, figures.name};
}

const BenchmarkFigures* shortest_with_kernels(const std::vector<BenchmarkFigures>& run) {
  const BenchmarkFigures* shortest = nullptr;
  for (const BenchmarkFigures& figures : run) {
    if (!(figures.launches >= 1) || !std::isfinite(figures.time_ns)) continue;
    if (shortest == nullptr || figures.time_ns < shortest->time_ns) shortest = &figures;
  }
  return shortest;
}

std::optional<Bound> bound_of(const BenchmarkFigures& figures, double memory_ns,
                              double arithmetic_ns, const FloorRates& rates) {
  const double floor_ns = std::max(memory_ns, arithmetic_ns);
  if (!std::isfinite(floor_ns)) return std::nullopt;
  const double half_ns = figures.time_ns / 2;
  if (rates.launch_ns && figures.launches * rates.launch_ns->value > half_ns &&
      floor_ns < half_ns) {
    return Bound::kLaunch;
  }
  return memory_ns > arithmetic_ns ? Bound::kMemory : Bound::kArithmetic;
}

}  // namespace

std::string_view bound_name(Bound bound) {
  switch (bound) {
    case Bound::kLaunch:
      return "launch";
    case Bound::kMemory:
      return "memory";
    case Bound::kArithmetic:
      return "arithmetic";
  }
  return "";
}

std::string format_bound(std::optional<Bound> bound) {
  return bound ? std::string(bound_name(*bound)) : std::string("-");
}

FloorRates measured_rates(const std::vector<BenchmarkFigures>& run) {
  FloorRates rates;
  if (const BenchmarkFigures* shortest = shortest_with_kernels(run)) {
    rates.launch_ns = MeasuredRate{shortest->time_ns / shortest->launches, shortest->name};
  }
  double copied_bytes = 0;
  for (const BenchmarkFigures& figures : run) {
    const auto name = parse_benchmark_name(figures.name);
    if (!name) continue;
    if (is_gemm(*name)) add_gemm(figures, name->dtype, &rates);
    if (name->operation == "control_copy" && figures.gbps > 0 && figures.min_bytes > copied_bytes) {
      copied_bytes = figures.min_bytes;
      rates.copy_gbps = MeasuredRate{figures.gbps, figures.name};
    }
  }
  return rates;
}

Floor floor_of(const BenchmarkFigures& figures, const FloorRates& rates) {
  const auto name = parse_benchmark_name(figures.name);
  if (!name || !rates.copy_gbps) return {};
  const auto gemm = rates.gemm_tflops.find(name->dtype);
  if (gemm == rates.gemm_tflops.end()) return {};
  const double arithmetic_ns = figures.flops / gemm->second.value / 1e3;
  const double memory_ns = figures.min_bytes / rates.copy_gbps->value;
  // std::max would drop a NaN on its right.
  const bool known = std::isfinite(arithmetic_ns + memory_ns + figures.time_ns);
  const double floor_ns = std::max(arithmetic_ns, memory_ns);
  if (!known || !(floor_ns > 0)) return {};
  return {floor_ns, figures.time_ns / floor_ns, bound_of(figures, memory_ns, arithmetic_ns, rates)};
}

std::vector<std::string> rate_sentences(const FloorRates& rates,
                                        const std::vector<std::string>& dtypes) {
  std::vector<std::string> sentences;
  for (const std::string& dtype : dtypes) {
    const auto gemm = rates.gemm_tflops.find(dtype);
    sentences.push_back(gemm == rates.gemm_tflops.end()
                            ? fmt::format("no GEMM of {} or more in {} in this run",
                                          format_time_ns(kShortestGemmNs), dtype)
                            : fmt::format("GEMM rate in {}: {} TFLOP/s, of {}", dtype,
                                          format_rate(gemm->second.value), gemm->second.benchmark));
  }
  sentences.push_back(rates.copy_gbps ? fmt::format("copy rate: {} GB/s, of {}",
                                                    format_rate(rates.copy_gbps->value),
                                                    rates.copy_gbps->benchmark)
                                      : "no copy control in this run");
  sentences.push_back(rates.launch_ns ? fmt::format("a launch: {} a kernel, of {}",
                                                    format_time_ns(rates.launch_ns->value),
                                                    rates.launch_ns->benchmark)
                                      : "no kernel launches recorded in this run");
  return sentences;
}

}  // namespace fusegate
