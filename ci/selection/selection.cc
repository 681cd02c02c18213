#include "ci/selection/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::ci {
namespace {

// MAX_ARG_STRLEN, 32 pages of 4 KiB, counts the terminating zero.
constexpr std::size_t kLongestArgument = 32 * 4096 - 1;

// What Google Benchmark appends to a name before it applies the filter, by how the benchmark is
// measured (BenchmarkName::str() in its benchmark_name.cc), and which other builds may do
// otherwise.
constexpr std::string_view kSuffixes =
    "(/"
    "(min_time:|min_warmup_time:|iterations:|repeats:|process_time|real_time|manual_time|threads:)"
    "[^/]*)*";

std::string literal(std::string_view name) {
  constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
  std::string expression;
  for (const char c : name) {
    if (kSpecial.find(c) != kSpecial.npos) expression += '\\';
    expression += c;
  }
  return expression;
}

bool runs_identical_code(const ComparedRuns& runs, const std::string& name) {
  const baselines::BenchmarkSeries* before = find_series(runs.baseline, name);
  const baselines::BenchmarkSeries* now = find_series(runs.candidate, name);
  return before != nullptr && now != nullptr && before->failure.empty() && now->failure.empty() &&
         baselines::identical_code(*before, *now);
}

double median_time_ns(const baselines::BenchmarkSeries& series) {
  std::vector<double> times;
  for (const auto& summary : series.processes) times.push_back(summary.time_ns);
  return times.empty() ? std::nan("") : baselines::median(std::move(times));
}

void learn(const baselines::Run& run, KnownBenchmark& known) {
  const baselines::BenchmarkSeries* series = find_series(run, known.name);
  if (series == nullptr) return;
  if (!(known.time_ns > 0)) known.time_ns = median_time_ns(*series);
  known.chooses = known.chooses || !series->choices.empty();
  for (const auto& [counter, value] :
       {std::pair("flops", &known.flops), std::pair("min_bytes", &known.min_bytes),
        std::pair(baselines::kElapsed, &known.elapsed_s)}) {
    const auto found = series->counters.find(counter);
    if (found != series->counters.end()) *value = found->second;
  }
}

}  // namespace

std::optional<std::string> benchmark_filter_flag(const std::vector<std::string>& names) {
  std::vector<std::string> literals;
  for (const std::string& name : names) literals.push_back(literal(name));
  const std::string flag =
      fmt::format("--benchmark_filter=^({}){}$", fmt::join(literals, "|"), kSuffixes);
  return flag.size() <= kLongestArgument ? std::optional(flag) : std::nullopt;
}

const baselines::BenchmarkSeries* find_series(const baselines::Run& run, const std::string& name) {
  const auto found =
      std::ranges::lower_bound(run.benchmarks, name, {}, &baselines::BenchmarkSeries::name);
  return found != run.benchmarks.end() && found->name == name ? &*found : nullptr;
}

Selection select_benchmarks(const std::vector<ComparedRuns>& compared, ControlUse use,
                            const std::string& only) {
  std::set<std::string> all;
  std::set<std::string> measured;
  for (const ComparedRuns& runs : compared) {
    for (const auto& series : runs.candidate.benchmarks) all.insert(series.name);
    // What only the baseline's program has is measured there: the gate then calls it missing.
    for (const auto& series : runs.baseline.benchmarks) {
      if (series.processes.empty() && find_series(runs.candidate, series.name) == nullptr) {
        measured.insert(series.name);
      }
    }
  }
  std::set<std::string> identical;
  for (const std::string& name : all) {
    const bool is_identical = std::ranges::all_of(
        compared, [&](const ComparedRuns& runs) { return runs_identical_code(runs, name); });
    (is_identical ? identical : measured).insert(name);
  }
  if (!only.empty()) {
    std::erase_if(measured, [&](const std::string& name) { return name != only; });
  }
  const std::vector<KnownBenchmark> known = known_benchmarks(identical, compared);
  std::vector<std::string> controls =
      use == ControlUse::kStored
          ? controls_for_stored(known)
          : controls_side_by_side(known, known_benchmarks(measured, compared));
  Selection selection{.measured = {},
                      .benchmarks = only.empty() ? all.size() : identical.size() + measured.size(),
                      .identical = identical.size(),
                      .controls = controls.size()};
  measured.insert(controls.begin(), controls.end());
  selection.control_names = std::move(controls);
  selection.measured.assign(measured.begin(), measured.end());
  return selection;
}

std::vector<KnownBenchmark> known_benchmarks(const std::set<std::string>& names,
                                             const std::vector<ComparedRuns>& compared) {
  std::vector<KnownBenchmark> all;
  for (const std::string& name : names) {
    KnownBenchmark& known = all.emplace_back(KnownBenchmark{.name = name});
    known.is_control = std::ranges::all_of(compared, [&](const ComparedRuns& runs) {
      const baselines::BenchmarkSeries* const before = find_series(runs.baseline, name);
      return before != nullptr && before->is_control;
    });
    for (const ComparedRuns& runs : compared) {
      if (runs.earlier) learn(*runs.earlier, known);
      learn(runs.baseline, known);
      learn(runs.candidate, known);
    }
  }
  return all;
}

std::string selection_text(const Selection& selection) {
  const std::string identical = fmt::format("{} of {} benchmarks run identical code",
                                            selection.identical, selection.benchmarks);
  if (selection.measured.empty()) return identical + ": nothing to measure";
  if (selection.controls == selection.identical) return identical + ": measuring all";
  const std::size_t others = selection.measured.size() - selection.controls;
  return others == 0
             ? fmt::format("{}: measuring {} of them as controls", identical, selection.controls)
             : fmt::format("{}: measuring the other {}, and {} of the identical ones as controls",
                           identical, others, selection.controls);
}

}  // namespace fusegate::ci
