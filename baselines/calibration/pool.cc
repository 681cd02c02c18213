#include "baselines/calibration/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "baselines/comparing/clock_share.h"
#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

void check_alike(const Run& first, const Run& other) {
  const auto refuse = [&](const std::string& field, const std::string& own,
                          const std::string& before) {
    throw InputError(other.source, field,
                     fmt::format("is {}, but {} in {}", own, before, first.source));
  };
  for (const auto& difference : environment_differences(first.environment, other.environment)) {
    refuse("environment." + difference.field, difference.candidate, difference.baseline);
  }
  const Provenance& before = first.provenance;
  const Provenance& own = other.provenance;
  if (own.suite != before.suite) {
    refuse("suite", '"' + own.suite + '"', '"' + before.suite + '"');
  }
  if (own.protocol != before.protocol) {
    refuse("protocol", own.protocol.dump(), before.protocol.dump());
  }
}

// In how many of the runs each benchmark has every process.
std::map<std::string, std::size_t> count_complete(const std::vector<Run>& runs) {
  std::map<std::string, std::size_t> complete_in;
  for (const Run& run : runs) {
    const std::size_t processes = processes_of(run);
    for (const BenchmarkSeries& series : run.benchmarks) {
      complete_in[series.name] +=
          series.failure.empty() && series.processes.size() == processes && processes > 0;
    }
  }
  return complete_in;
}

void add_run(Run& card, Run&& run) {
  if (card.benchmarks.empty()) {
    card = std::move(run);
    return;
  }
  add_warnings(card.warnings, run.warnings);
  for (std::size_t i = 0; i < run.benchmarks.size(); ++i) {
    const BenchmarkSeries& more = run.benchmarks[i];
    BenchmarkSeries& series = card.benchmarks[i];
    series.processes.insert(series.processes.end(), more.processes.begin(), more.processes.end());
    add_warnings(series.warnings, more.warnings);
  }
}

void drop_extensions(Run& run) {
  for (BenchmarkSeries& series : run.benchmarks) {
    std::erase_if(series.processes, [](const ProcessSummary& own) { return own.extension; });
  }
}

}  // namespace

std::size_t processes_of(const Run& run) {
  std::size_t most = 0;
  for (const auto& series : run.benchmarks) most = std::max(most, series.processes.size());
  return most;
}

CalibrationPool pool_runs(std::vector<Run> runs) {
  if (runs.empty()) throw InputError("calibration", "", "no run was named");
  for (Run& run : runs) {
    check_alike(runs.front(), run);
    drop_extensions(run);
  }
  CalibrationPool pool;
  const auto complete_in = count_complete(runs);
  for (const auto& [name, count] : complete_in) {
    if (count < runs.size()) pool.left_out.push_back(name);
  }
  std::map<std::string, Run> cards;
  for (Run& run : runs) {
    std::erase_if(run.benchmarks, [&](const BenchmarkSeries& series) {
      return complete_in.at(series.name) < runs.size();
    });
    if (run.benchmarks.empty()) {
      throw InputError(run.source, "benchmarks", "none succeeded in every process of every run");
    }
    std::ranges::sort(run.benchmarks, {}, &BenchmarkSeries::name);
    const Provenance& from = run.provenance;
    pool.runs.push_back({run.source, from.device_uuid, from.commit, from.dirty, from.date,
                         from.host, static_cast<int>(processes_of(run))});
    add_run(cards[from.device_uuid], std::move(run));
  }
  for (auto& [uuid, card] : cards) pool.cards.push_back(std::move(card));
  return pool;
}

std::vector<std::vector<double>> logarithms(const std::vector<Run>& cards, std::size_t benchmark,
                                            double share) {
  std::vector<std::vector<double>> result;
  for (const Run& card : cards) {
    std::vector<double> values;
    for (const ProcessSummary& summary : card.benchmarks[benchmark].processes) {
      values.push_back(log_at_share(summary, share));
    }
    result.push_back(std::move(values));
  }
  return result;
}

double pooled_clock_share(const std::vector<Run>& cards, std::size_t benchmark) {
  std::vector<const BenchmarkSeries*> series;
  for (const Run& card : cards) series.push_back(&card.benchmarks[benchmark]);
  const bool all_have_cycles =
      std::ranges::all_of(series, [](const BenchmarkSeries* own) { return has_cycles(*own); });
  return all_have_cycles ? clock_share(series) : std::numeric_limits<double>::quiet_NaN();
}

Run drawn_run(const Run& card, const std::vector<std::size_t>& processes) {
  Run run;
  run.source = card.source;
  run.environment = card.environment;
  run.provenance = card.provenance;
  run.warnings = card.warnings;
  for (const BenchmarkSeries& series : card.benchmarks) {
    BenchmarkSeries drawn;
    drawn.name = series.name;
    drawn.counters = series.counters;
    drawn.choices = series.choices;
    drawn.warnings = series.warnings;
    drawn.is_control = series.is_control;
    for (const std::size_t i : processes) drawn.processes.push_back(series.processes[i]);
    run.benchmarks.push_back(std::move(drawn));
  }
  number_processes(run);
  return run;
}

}  // namespace fusegate::baselines
