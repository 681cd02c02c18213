#include "ci/run/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::ci {
namespace {

using Names = std::set<std::string>;

const baselines::BenchmarkSeries* find_series(const baselines::Run& run, const std::string& name) {
  const auto found =
      std::ranges::lower_bound(run.benchmarks, name, {}, &baselines::BenchmarkSeries::name);
  return found != run.benchmarks.end() && found->name == name ? &*found : nullptr;
}

bool does_equal_work(const ComparedRuns& runs, const std::string& name) {
  const baselines::BenchmarkSeries* before = find_series(runs.baseline, name);
  const baselines::BenchmarkSeries* now = find_series(runs.candidate, name);
  return before != nullptr && now != nullptr && before->failure.empty() && now->failure.empty() &&
         baselines::equal_work(*before, *now);
}

const double* find_counter(const baselines::BenchmarkSeries& series, const char* name) {
  const auto found = series.counters.find(name);
  return found == series.counters.end() ? nullptr : &found->second;
}

double median_time_ns(const baselines::BenchmarkSeries& series) {
  std::vector<double> times;
  for (const auto& summary : series.invocations) times.push_back(summary.time_ns);
  return times.empty() ? std::nan("") : baselines::median(std::move(times));
}

bool is_control(const std::vector<ComparedRuns>& compared, const std::string& name) {
  return std::ranges::all_of(compared, [&](const ComparedRuns& runs) {
    const baselines::BenchmarkSeries* const before = find_series(runs.baseline, name);
    return before != nullptr && before->is_control;
  });
}

void learn(const baselines::Run& run, KnownBenchmark& known) {
  const baselines::BenchmarkSeries* series = find_series(run, known.name);
  if (series == nullptr) return;
  if (!(known.time_ns > 0)) known.time_ns = median_time_ns(*series);
  known.chooses = known.chooses || !series->choices.empty();
  const double* flops = find_counter(*series, "flops");
  const double* min_bytes = find_counter(*series, "min_bytes");
  if (flops != nullptr) known.flops = *flops;
  if (min_bytes != nullptr) known.min_bytes = *min_bytes;
}

std::vector<KnownBenchmark> known_of(const Names& names,
                                     const std::vector<ComparedRuns>& compared) {
  std::vector<KnownBenchmark> all;
  for (const std::string& name : names) {
    KnownBenchmark& known = all.emplace_back(KnownBenchmark{.name = name});
    known.is_control = is_control(compared, name);
    for (const ComparedRuns& runs : compared) {
      if (runs.earlier) learn(*runs.earlier, known);
      learn(runs.baseline, known);
      learn(runs.candidate, known);
    }
  }
  return all;
}

}  // namespace

Selection select_benchmarks(const std::vector<ComparedRuns>& compared, ControlUse use) {
  Names all;
  Names measured;
  for (const ComparedRuns& runs : compared) {
    for (const auto& series : runs.candidate.benchmarks) all.insert(series.name);
    // What only the baseline's program has is measured there: the gate then calls it missing.
    for (const auto& series : runs.baseline.benchmarks) {
      if (series.invocations.empty() && find_series(runs.candidate, series.name) == nullptr) {
        measured.insert(series.name);
      }
    }
  }
  Names equal;
  for (const std::string& name : all) {
    const bool is_equal = std::ranges::all_of(
        compared, [&](const ComparedRuns& runs) { return does_equal_work(runs, name); });
    (is_equal ? equal : measured).insert(name);
  }
  const std::vector<KnownBenchmark> known = known_of(equal, compared);
  Names controls = use == ControlUse::kStored
                       ? controls_for_stored(known)
                       : controls_side_by_side(known, known_of(measured, compared));
  Selection plan{
      .measured = {}, .benchmarks = all.size(), .equal = equal.size(), .controls = controls.size()};
  measured.merge(controls);
  plan.measured.assign(measured.begin(), measured.end());
  return plan;
}

std::string selection_text(const Selection& plan) {
  const std::string equal =
      fmt::format("{} of {} benchmarks do equal work", plan.equal, plan.benchmarks);
  if (plan.measured.empty()) return equal + ": nothing is measured";
  const std::size_t others = plan.measured.size() - plan.controls;
  if (plan.controls == plan.equal) return equal + ": measuring all";
  return others == 0
             ? fmt::format("{}: measuring {} of them as controls", equal, plan.controls)
             : fmt::format("{}: measuring the other {}, and {} of the equal ones as controls",
                           equal, others, plan.controls);
}

}  // namespace fusegate::ci
