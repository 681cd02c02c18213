#include "ci/sweep/roofline_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "baselines/record/benchmark_name.h"
#include "ci/console/format.h"
#include "ci/sweep/sweep_axis.h"

namespace fusegate::ci {
namespace {

constexpr double kShortestGemmNs = 20e3;
// A bias is less: 1 FLOP beside 2 dim of them.
constexpr double kSameFlops = 0.01;

// Element-wise work has fewer; a product has them from 32 rows on.
constexpr double kFewestFlopsPerByte = 16;

bool is_gemm_control(const BenchmarkFigures& figures) {
  return figures.is_control && figures.flops >= kFewestFlopsPerByte * figures.min_bytes;
}

// The controls' own, and those that compute as much as one at the same problem.
std::set<std::string> gemm_operations(const std::vector<BenchmarkFigures>& run) {
  std::map<std::pair<std::string, Shape>, double> control_flops;  // by dtype, labels and axes
  std::set<std::string> operations;
  for (const BenchmarkFigures& figures : run) {
    const auto name = baselines::parse_benchmark_name(figures.name);
    if (!name || !is_gemm_control(figures)) continue;
    operations.insert(name->operation);
    control_flops[{baselines::dtype_text(*name), name->axes}] = figures.flops;
  }
  for (const BenchmarkFigures& figures : run) {
    const auto name = baselines::parse_benchmark_name(figures.name);
    if (!name) continue;
    const auto control = control_flops.find({baselines::dtype_text(*name), name->axes});
    if (control == control_flops.end()) continue;
    if (std::abs(figures.flops / control->second - 1) < kSameFlops) {
      operations.insert(name->operation);
    }
  }
  return operations;
}

// Comparisons with NaN are false: a value that was not recorded sets no rate.
void add_gemm(const BenchmarkFigures& figures, const std::string& dtype, MeasuredRates* rates) {
  if (!(figures.time_ns >= kShortestGemmNs) || !(figures.tflops > 0)) return;
  MeasuredRate& best = rates->gemm_tflops[dtype];
  if (figures.tflops > best.value) best = {figures.tflops, figures.name};
}

void lend(const std::string& from, const std::string& to, MeasuredRates* rates) {
  const auto measured = rates->gemm_tflops.find(from);
  if (measured != rates->gemm_tflops.end()) rates->gemm_tflops.try_emplace(to, measured->second);
}

bool is_same_device(const baselines::Run& a, const baselines::Run& b) {
  const auto device_of = [](const baselines::Run& run) {
    const auto found = run.environment.find("device");
    return found == run.environment.end() ? nlohmann::json() : found->second;
  };
  return device_of(a) == device_of(b);
}

void add_missing(const MeasuredRates& others, MeasuredRates* rates) {
  for (const auto& [dtype, rate] : others.gemm_tflops) rates->gemm_tflops.try_emplace(dtype, rate);
  if (!rates->copy_gbps) rates->copy_gbps = others.copy_gbps;
  if (!rates->launch_ns) rates->launch_ns = others.launch_ns;
}

const BenchmarkFigures* shortest_with_kernels(const std::vector<BenchmarkFigures>& run) {
  const BenchmarkFigures* shortest = nullptr;
  for (const BenchmarkFigures& figures : run) {
    if (!(figures.launches >= 1) || !std::isfinite(figures.time_ns)) continue;
    if (shortest == nullptr || figures.time_ns < shortest->time_ns) shortest = &figures;
  }
  return shortest;
}

}  // namespace

MeasuredRates measured_rates(const std::vector<BenchmarkFigures>& run) {
  MeasuredRates rates;
  if (const BenchmarkFigures* shortest = shortest_with_kernels(run)) {
    rates.launch_ns = MeasuredRate{shortest->time_ns / shortest->launches, shortest->name};
  }
  const std::set<std::string> gemms = gemm_operations(run);
  double copied_bytes = 0;
  for (const BenchmarkFigures& figures : run) {
    const auto name = baselines::parse_benchmark_name(figures.name);
    if (!name) continue;
    if (gemms.contains(name->operation)) add_gemm(figures, name->dtype, &rates);
    if (figures.is_control && figures.flops == 0 && figures.gbps > 0 &&
        figures.min_bytes > copied_bytes) {
      copied_bytes = figures.min_bytes;
      rates.copy_gbps = MeasuredRate{figures.gbps, figures.name};
    }
  }
  lend("bf16", "fp16", &rates);
  lend("fp16", "bf16", &rates);
  return rates;
}

RooflineTime roofline_time_of(const BenchmarkFigures& figures, const MeasuredRates& rates) {
  const auto name = baselines::parse_benchmark_name(figures.name);
  if (!name) return {};
  RooflineTime roofline_time;
  if (rates.copy_gbps) roofline_time.copy_share = figures.gbps / rates.copy_gbps->value;
  if (const auto gemm = rates.gemm_tflops.find(name->dtype); gemm != rates.gemm_tflops.end()) {
    roofline_time.gemm_share = figures.tflops / gemm->second.value;
  }
  // std::max would drop a NaN on its right.
  if (!std::isfinite(roofline_time.copy_share + roofline_time.gemm_share)) return roofline_time;
  const double share = std::max(roofline_time.copy_share, roofline_time.gemm_share);
  if (!(share > 0)) return roofline_time;
  roofline_time.ns = share * figures.time_ns;
  roofline_time.gap = 1 / share;
  return roofline_time;
}

RooflineTimes roofline_times(const baselines::Run& run,
                             const std::vector<const baselines::Run*>& others) {
  std::vector<BenchmarkFigures> figures = benchmark_figures(run);
  MeasuredRates rates = measured_rates(figures);
  for (const baselines::Run* other : others) {
    if (!is_same_device(run, *other)) continue;
    std::vector<BenchmarkFigures> more = benchmark_figures(*other);
    add_missing(measured_rates(more), &rates);
    std::ranges::move(more, std::back_inserter(figures));
  }
  RooflineTimes times;
  for (const BenchmarkFigures& one : figures) {
    times.emplace(one.name, roofline_time_of(one, rates));
  }
  std::erase_if(times, [](const auto& time) { return !std::isfinite(time.second.ns); });
  return times;
}

std::vector<std::string> rate_sentences(const MeasuredRates& rates,
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

}  // namespace fusegate::ci
