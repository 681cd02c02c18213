#include "baselines/gating/stored_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

void require_alike(const Run& stored, const Run& run) {
  const auto differences = differences_between(stored, run);
  if (differences.empty()) return;
  const EnvironmentDifference& first = differences.front();
  throw InputError(
      run.source, first.field,
      fmt::format("is \"{}\", but \"{}\" in {}: its cards can be added where environment and "
                  "protocol are the same; leave out --add to replace the baseline",
                  first.candidate, first.baseline, stored.source));
}

bool has_identical_code(const BenchmarkSeries& stored, const BenchmarkSeries& series) {
  return stored.identity && series.identity && identical_code(*stored.identity, *series.identity);
}

// Numbers the stored processes and their cards behind the run's own.
class StoredProcesses {
 public:
  StoredProcesses(const Run& stored, Run& run) : stored_(stored), run_(run) {}

  // But for those of cards on which the run measured the benchmark.
  void add_to(BenchmarkSeries& series, const BenchmarkSeries& of_stored) {
    std::set<std::string, std::less<>> measured_on;
    for (const ProcessSummary& summary : series.processes) {
      measured_on.insert(run_.cards.at(static_cast<std::size_t>(summary.card)));
    }
    for (const ProcessSummary& summary : of_stored.processes) {
      if (!measured_on.contains(card_of(summary))) add(summary, series);
    }
  }

 private:
  void add(ProcessSummary summary, BenchmarkSeries& series) {
    const std::string& card = card_of(summary);
    const auto found = std::ranges::find(run_.cards, card);
    summary.process = number_of(summary.process, card);
    summary.card = static_cast<int>(found - run_.cards.begin());
    if (found == run_.cards.end()) run_.cards.push_back(card);
    series.processes.push_back(summary);
  }

  const std::string& card_of(const ProcessSummary& summary) const {
    return stored_.cards.at(static_cast<std::size_t>(summary.card));
  }

  int number_of(int process, const std::string& card) {
    const auto [found, is_new] =
        numbers_.emplace(process, static_cast<int>(run_.process_names.size()));
    if (is_new) {
      const std::string& name = stored_.process_names.at(static_cast<std::size_t>(process));
      const bool is_taken = std::ranges::find(run_.process_names, name) != run_.process_names.end();
      run_.process_names.push_back(is_taken ? fmt::format("{}/{}", card, name) : name);
    }
    return found->second;
  }

  const Run& stored_;
  Run& run_;
  std::map<int, int> numbers_{};  // by the stored number
};

}  // namespace

std::vector<std::string> add_stored_cards(const Run& stored, Run& run) {
  require_alike(stored, run);
  run.cards = cards_of(run);
  StoredProcesses processes(stored, run);
  std::vector<std::string> alone;
  for (BenchmarkSeries& series : run.benchmarks) {
    const auto found =
        std::ranges::lower_bound(stored.benchmarks, series.name, {}, &BenchmarkSeries::name);
    const bool is_stored = found != stored.benchmarks.end() && found->name == series.name;
    if (!is_stored || !series.failure.empty()) continue;
    if (!has_identical_code(*found, series)) {
      if (!series.is_unmeasured()) alone.push_back(series.name);
      continue;
    }
    if (series.is_unmeasured()) {
      const bool is_control = series.is_control;
      series = *found;
      series.is_control = is_control;
      series.processes.clear();
    }
    processes.add_to(series, *found);
  }
  return alone;
}

}  // namespace fusegate::baselines
