// Nights of a history, or a run as one, as other tools read them: a writer a format. Times are of
// one call. What a benchmark has no time of is left out: its code was identical, or it failed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/history/night.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::ci {

using ExportedNights = std::span<const baselines::Night>;  // one at least

struct ExportFormat {
  std::string_view name;
  bool has_all_nights;  // else the last one
  std::string (*text)(ExportedNights nights);
};
std::span<const ExportFormat> export_formats();

struct ExportedTime {
  const baselines::NightBenchmark& benchmark;
  double ns = 0;  // median over processes
  // Of the mean over processes at equal clock, with 95 %: Student's t of their logarithms, around
  // ns. NaN of a single process.
  baselines::Interval interval_ns{};
};
std::vector<ExportedTime> exported_times(const baselines::Night& night);

// "20261123T201554" in UTC, by a format of fmt's.
std::string exported_date(const baselines::Night& night, std::string_view format);

// LNT's report format 2, in s (https://llvm.org/docs/lnt/importing_data.html).
std::string lnt_text(ExportedNights nights);
// Bencher Metric Format, in ns (https://bencher.dev/docs/reference/bencher-metric-format).
std::string bencher_text(ExportedNights nights);
// customSmallerIsBetter, in ns (https://github.com/benchmark-action/github-action-benchmark).
std::string github_action_benchmark_text(ExportedNights nights);
// OpenMetrics 1.0, in s and J (https://prometheus.io/docs/specs/om/open_metrics_spec/).
std::string openmetrics_text(ExportedNights nights);

}  // namespace fusegate::ci
