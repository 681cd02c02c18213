#include "ci/selection/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "baselines/comparing/rule.h"
#include "baselines/statistics/null_distribution.h"
#include "baselines/statistics/statistics.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkSeries;
using baselines::Run;

// On an H200 a process of pr takes 5.1 s with 10 benchmarks of 48 samples and 1.4 s with 4 of 12:
// 0.4 s for itself, 0.17 s to check a benchmark, and 6.2 ms a sample, of which idling and the batch
// are 4.65 ms (docs/evidence/gate-speed.md). The first round shows what it is here.
constexpr double kProcessS = 0.4;
constexpr double kCheckS = 0.17;
constexpr double kSampleOverhead = 6.2 / 4.65;
// In time, of kernels of 20 us and more on an H200 (docs/evidence/protocol.md).
constexpr double kUsualSpread = 0.00094;
// To judge 10,000 benchmarks (docs/evidence/gate-speed.md).
constexpr double kJudgingS = 1;
// A control for each third of the durations of what differs. By stored figures the machine is known
// by no fewer than kFewestNullRows.
constexpr std::size_t kFewestSideBySide = 3;

struct ProtocolTimes {
  double idle_s = 0;
  double batch_s = 0;
  double warm_s = 0;  // a layout's
  int samples = 0;
  int layouts = 0;
};

ProtocolTimes protocol_of(const nlohmann::json& protocol) {
  const auto number = [&](const char* key) {
    const bool is_there = protocol.is_object() && protocol.contains(key);
    return is_there && protocol[key].is_number() ? protocol[key].get<double>() : 0;
  };
  return {.idle_s = (number("idle_ns") + number("spin_ns")) / 1e9,
          .batch_s = number("batch_ns") / 1e9,
          .warm_s = number("warm_ns") / 1e9,
          .samples = std::max(1, static_cast<int>(number("samples"))),
          .layouts = static_cast<int>(number("layouts"))};
}

double sample_s(const ProtocolTimes& protocol, double time_s) {
  const double batch_s = std::max(protocol.batch_s, time_s > 0 ? time_s : 0);
  return kSampleOverhead * (protocol.idle_s + batch_s) +
         protocol.warm_s * protocol.layouts / protocol.samples;
}

// Relative, between the processes of a card; nothing of a single one.
std::optional<double> spread_of(const BenchmarkSeries& series) {
  std::map<int, std::vector<double>> cards;
  for (const auto& summary : series.processes) {
    cards[summary.card].push_back(std::log(summary.time_ns));
  }
  double squares = 0;
  std::size_t degrees = 0;
  for (const auto& [card, logs] : cards) {
    double mean = 0;
    for (const double log : logs) mean += log / static_cast<double>(logs.size());
    for (const double log : logs) squares += (log - mean) * (log - mean);
    degrees += logs.size() - 1;
  }
  if (degrees == 0 || !(squares > 0)) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(degrees));
}

std::optional<double> known_spread(const std::vector<ComparedRuns>& compared,
                                   const std::string& name) {
  for (const ComparedRuns& runs : compared) {
    const auto calibrated = runs.spreads.find(name);
    if (calibrated != runs.spreads.end() && calibrated->second > 0) return calibrated->second;
  }
  for (const ComparedRuns& runs : compared) {
    for (const Run* const run : {runs.earlier ? &*runs.earlier : nullptr, &runs.baseline}) {
      const BenchmarkSeries* const series = run ? find_series(*run, name) : nullptr;
      if (const auto spread = series ? spread_of(*series) : std::nullopt) return spread;
    }
  }
  return std::nullopt;
}

double weight_of(const ComparedRuns& judged, const std::string& name) {
  const bool both = find_series(judged.baseline, name) && find_series(judged.candidate, name);
  return both ? baselines::settings_of(judged.baseline, name).weight.value_or(1) : 0;
}

// Of benchmarks in that order.
std::vector<BudgetedBenchmark> benchmarks_of(const std::vector<std::string>& names,
                                             const std::vector<ComparedRuns>& compared) {
  const ProtocolTimes protocol = protocol_of(compared.front().baseline.provenance.protocol);
  const auto known = known_benchmarks({names.begin(), names.end()}, compared);
  std::vector<BudgetedBenchmark> benchmarks;
  std::vector<double> spreads;
  for (const std::string& name : names) {
    const double time_s = std::ranges::find(known, name, &KnownBenchmark::name)->time_ns / 1e9;
    const double spread = known_spread(compared, name).value_or(0);
    if (spread > 0) spreads.push_back(spread);
    benchmarks.push_back({.weight = weight_of(compared.front(), name),
                          .spread = spread,
                          .check_s = kCheckS,
                          .sample_s = sample_s(protocol, time_s)});
  }
  const double usual = spreads.empty() ? kUsualSpread : baselines::median(std::move(spreads));
  for (BudgetedBenchmark& benchmark : benchmarks) {
    if (benchmark.spread == 0) benchmark.spread = usual;
  }
  return benchmarks;
}

// Sets the costs to what a process of the plan took. Where it does not say for what, all costs grow
// alike.
void learn(const ProcessTimes& process, const BudgetPlan& plan, BudgetRequest& request) {
  const double predicted_s = round_s(request, plan) / request.programs;
  const std::size_t count = plan.measured.size() + plan.controls;
  double checks_s = 0;
  for (const std::size_t i : plan.measured) checks_s += request.benchmarks[i].check_s;
  for (std::size_t i = 0; i < plan.controls; ++i) checks_s += request.controls[i].check_s;
  const double samples_s = predicted_s - request.process_s - checks_s;
  const bool is_known = process.samples_s > 0 && samples_s > 0;
  if (!is_known && !(predicted_s > 0)) return;
  const double factor = is_known ? process.samples_s / samples_s : process.total_s / predicted_s;
  for (auto* const list : {&request.benchmarks, &request.controls}) {
    for (BudgetedBenchmark& benchmark : *list) {
      benchmark.sample_s *= factor;
      if (is_known) benchmark.check_s = process.checks_s / static_cast<double>(count);
    }
  }
  request.process_s = is_known ? process.total_s - process.checks_s - process.samples_s
                               : request.process_s * factor;
}

}  // namespace

double samples_s(const nlohmann::json& protocol, double time_ns) {
  const ProtocolTimes times = protocol_of(protocol);
  return times.batch_s > 0 ? times.samples * sample_s(times, time_ns / 1e9) : 0;
}

BudgetedRun budgeted(const std::vector<ComparedRuns>& compared, const Selection& selection,
                     const BudgetTerms& terms) {
  BudgetedRun run{.budget_s = terms.budget_s};
  const std::set<std::string> identical(selection.control_names.begin(),
                                        selection.control_names.end());
  for (const std::string& name : selection.measured) {
    if (identical.contains(name)) continue;
    const BenchmarkSeries* const series = find_series(compared.front().baseline, name);
    (series && series->is_control ? run.controls : run.names).push_back(name);
  }
  run.controls.insert(run.controls.end(), selection.control_names.begin(),
                      selection.control_names.end());
  const ProtocolTimes protocol = protocol_of(compared.front().baseline.provenance.protocol);
  run.samples = protocol.samples;
  run.layouts = protocol.layouts;
  run.request = {
      .benchmarks = benchmarks_of(run.names, compared),
      .controls = benchmarks_of(run.controls, compared),
      .fewest_controls = terms.programs > 1 ? kFewestSideBySide : baselines::kFewestNullRows,
      .programs = terms.programs,
      .process_s = std::min(kProcessS, terms.identification_s),
      .seconds = terms.left_s - kJudgingS,
      .whole = protocol.samples,
      .may_thin = terms.may_thin,
      .fewest = baselines::kFewestProcesses,
      .most = std::max(baselines::kFewestProcesses, terms.most_processes)};
  run.plan = plan_budget(run.request);
  return run;
}

std::vector<std::string> BudgetedRun::measured() const {
  std::vector<std::string> result;
  for (const std::size_t i : plan.measured) result.push_back(names[i]);
  for (std::size_t i = 0; i < plan.controls; ++i) result.push_back(controls[i]);
  std::ranges::sort(result);
  return result;
}

std::vector<std::string> BudgetedRun::left_out() const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!std::ranges::binary_search(plan.measured, i)) result.push_back(names[i]);
  }
  return result;
}

std::vector<std::string> BudgetedRun::flags() const {
  if (plan.samples == samples || plan.samples == 0) return {};
  return {fmt::format("--samples={}", plan.samples),
          fmt::format("--layouts={}", std::min(layouts, plan.samples))};
}

void BudgetedRun::replan(const ProcessTimes& process, double left_s) {
  learn(process, plan, request);
  for (auto* const list : {&request.benchmarks, &request.controls}) {
    for (BudgetedBenchmark& benchmark : *list) {
      benchmark.spread *= std::sqrt(static_cast<double>(request.whole) / plan.samples);
    }
  }
  request.whole = plan.samples;
  request.may_thin = false;
  request.done = 1;
  request.seconds = left_s - kJudgingS;
  // What was left out so far stays so: it lacks the first process.
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!std::ranges::binary_search(plan.measured, i)) request.benchmarks[i].weight = 0;
  }
  request.controls.resize(plan.controls);
  plan = plan_budget(request);
}

std::string BudgetedRun::text() const {
  const std::string text = fmt::format(
      "Budget of {:g} s: measuring {} that can have changed", budget_s,
      plan.measured.size() == names.size()
          ? format_count(names.size(), "benchmark")
          : fmt::format("{} of {}", plan.measured.size(), format_count(names.size(), "benchmark")));
  if (plan.measured.empty()) return text + '.';
  return text + fmt::format(", and {}, by {} of each program{}.",
                            format_count(plan.controls, "control"),
                            format_count(static_cast<std::size_t>(plan.processes), "process"),
                            samples > 1 ? fmt::format(" with {} samples each", plan.samples) : "");
}

std::string BudgetedRun::shortage() const {
  if (plan.measured.empty() || (plan.fits && plan.processes >= request.fewest)) return "";
  return fmt::format(
      "The budget of {:g} s is too short for a verdict: it has room for {} of each program, and {} "
      "are needed to report a regression.",
      budget_s, format_count(static_cast<std::size_t>(plan.processes), "process"), request.fewest);
}

}  // namespace fusegate::ci
