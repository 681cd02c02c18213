#include "baselines/comparing/outlier_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

constexpr std::size_t kFewestInARow = 3;
constexpr std::size_t kFewestRows = 8;
constexpr double kOddRanges = 5;

// Of each process of a card, row by row.
using Deviations = std::map<int, std::vector<double>>;

void add_row(const BenchmarkSeries& series, int card, Deviations& deviations) {
  std::vector<std::pair<int, double>> row;
  std::vector<double> logarithms;
  for (const InvocationSummary& summary : series.invocations) {
    if (summary.card != card) continue;
    row.emplace_back(summary.process, std::log(summary.time_ns));
    logarithms.push_back(row.back().second);
  }
  if (row.size() < kFewestInARow) return;
  const double middle = median(std::move(logarithms));
  for (const auto& [process, logarithm] : row) deviations[process].push_back(logarithm - middle);
}

struct Departure {
  int process = 0;
  double value = 0;
  std::size_t rows = 0;
};

double range_of(std::span<const Departure> sorted) {
  return sorted.back().value - sorted.front().value;
}

// Sorted by value.
std::vector<Departure> departures_on(const Run& run, int card) {
  Deviations deviations;
  for (const BenchmarkSeries& series : run.benchmarks) add_row(series, card, deviations);
  std::vector<Departure> result;
  for (auto& [process, values] : deviations) {
    const std::size_t rows = values.size();
    if (rows >= kFewestRows) result.push_back({process, median(std::move(values)), rows});
  }
  std::ranges::sort(result, {}, &Departure::value);
  return result;
}

// The closest three quarters of them.
std::span<const Departure> siblings_among(const std::vector<Departure>& sorted) {
  const std::size_t count = sorted.size() - std::max<std::size_t>(1, sorted.size() / 4);
  const auto from = [&](std::size_t first) { return std::span(sorted).subspan(first, count); };
  std::size_t closest = 0;
  for (std::size_t first = 1; first + count <= sorted.size(); ++first) {
    if (range_of(from(first)) < range_of(from(closest))) closest = first;
  }
  return from(closest);
}

void add_odd(const Run& run, const std::vector<Departure>& sorted, double min_effect,
             std::vector<OddProcess>& odd) {
  if (sorted.size() < kFewestInARow) return;
  const std::span<const Departure> siblings = siblings_among(sorted);
  const double least = std::max(std::log1p(min_effect), kOddRanges * range_of(siblings));
  std::vector<double> values;
  for (const Departure& sibling : siblings) values.push_back(sibling.value);
  const double middle = median(std::move(values));
  for (const Departure& one : sorted) {
    const double beyond =
        std::max(one.value - siblings.back().value, siblings.front().value - one.value);
    if (beyond <= least) continue;
    odd.push_back({.process = one.process,
                   .name = run.processes.at(static_cast<std::size_t>(one.process)),
                   .departure = std::expm1(one.value - middle),
                   .rows = one.rows,
                   .is_set_aside = sorted.size() >= kFewestToSetAside});
  }
}

// What differs by less hides little, and time at equal clock is mostly free of it.
constexpr double kOddness = 2;

}  // namespace

std::vector<OddProcess> odd_processes(const Run& run, double min_effect) {
  if (run.processes.empty()) return {};
  std::vector<OddProcess> odd;
  const int cards = static_cast<int>(cards_of(run).size());
  for (int card = 0; card < cards; ++card) {
    add_odd(run, departures_on(run, card), kOddness * min_effect, odd);
  }
  return odd;
}

std::string odd_process_text(const OddProcess& odd) {
  return fmt::format(
      "process {} took {:.1f} % {} in the median over {} benchmarks than its siblings", odd.name,
      100 * std::abs(odd.departure), odd.departure > 0 ? "longer" : "less", odd.rows);
}

Run without_odd_processes(Run run, const std::vector<OddProcess>& odd) {
  const auto is_set_aside = [&odd](const InvocationSummary& summary) {
    const auto found = std::ranges::find(odd, summary.process, &OddProcess::process);
    return found != odd.end() && found->is_set_aside;
  };
  for (BenchmarkSeries& series : run.benchmarks) std::erase_if(series.invocations, is_set_aside);
  return run;
}

}  // namespace fusegate::baselines
