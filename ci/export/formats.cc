#include "ci/export/formats.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>

#include "baselines/history/night_json.h"
#include "baselines/statistics/student_t.h"

namespace fusegate::ci {
namespace {

// What `fusegate history import` reads.
std::string night_lines(ExportedNights nights) {
  std::string lines;
  for (const baselines::Night& night : nights) lines += baselines::night_line(night) + '\n';
  return lines;
}

constexpr std::array<ExportFormat, 5> kFormats{
    {{"nights", true, night_lines},
     {"lnt", false, lnt_text},
     {"bencher", false, bencher_text},
     {"github-action-benchmark", false, github_action_benchmark_text},
     {"openmetrics", true, openmetrics_text}}};

baselines::Interval interval_of(const baselines::NightBenchmark& benchmark) {
  constexpr double kTail = 0.025;
  const double processes = benchmark.processes;
  if (!(processes > 1) || !(benchmark.process_variance >= 0)) {
    return {baselines::kUnknown, baselines::kUnknown};
  }
  const double half = baselines::t_upper_quantile(kTail, processes - 1) *
                      std::sqrt(benchmark.process_variance / processes);
  return {benchmark.ns * std::exp(-half), benchmark.ns * std::exp(half)};
}

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

std::vector<ExportedTime> exported_times(const baselines::Night& night) {
  std::vector<ExportedTime> times;
  for (const baselines::NightBenchmark& benchmark : night.benchmarks) {
    if (!std::isfinite(benchmark.ns)) continue;
    times.push_back({benchmark, benchmark.ns, interval_of(benchmark)});
  }
  return times;
}

std::string exported_date(const baselines::Night& night, std::string_view format) {
  const std::chrono::sys_seconds date{std::chrono::seconds(night.unix_s)};
  return fmt::format(fmt::runtime(format), date);
}

}  // namespace fusegate::ci
