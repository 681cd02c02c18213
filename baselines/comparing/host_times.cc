#include "baselines/comparing/host_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/statistics/common_movement.h"
#include "baselines/statistics/moderated_contrasts.h"

namespace fusegate::baselines {
namespace {

// In fewer benchmarks a process shows nothing that is its own.
constexpr std::size_t kFewestRows = 8;
// Of the value that an older baseline keeps, the median of its processes.
constexpr int kNoProcess = -1;

// Where a launch's figure stands.
struct LaunchParts {
  HostLaunch launch;
  double ProcessSummary::*field;
  const char* counter;
};

constexpr LaunchParts kStream{HostLaunch::kStream, &ProcessSummary::host_ns, kHostNs};
constexpr LaunchParts kGraph{HostLaunch::kGraph, &ProcessSummary::host_graph_ns, kHostGraphNs};

struct HostValue {
  double logarithm = 0;
  int process = kNoProcess;
  int block = 0;
};

struct HostSide {
  std::vector<HostValue> values;
  ComparedProcesses processes;

  double mean() const {
    double sum = 0;
    for (const HostValue& value : values) sum += value.logarithm;
    return sum / static_cast<double>(values.size());
  }
  double median_ns() const {
    std::vector<double> ns;
    for (const HostValue& value : values) ns.push_back(std::exp(value.logarithm));
    return median(std::move(ns));
  }
};

HostSide side_of(const BenchmarkSeries& series, const LaunchParts& parts) {
  HostSide side;
  for (const ProcessSummary& summary : series.processes) {
    const double ns = summary.*parts.field;
    if (!std::isfinite(ns)) continue;
    side.values.push_back({std::log(ns), summary.process, summary.block});
    ++side.processes.all;
    side.processes.fresh += summary.extension;
  }
  const double median_ns = counter_of(series, parts.counter);
  if (side.values.empty() && median_ns > 0) {
    side.values.push_back({.logarithm = std::log(median_ns)});
    side.processes.all = 1;
  }
  return side;
}

struct Row {
  std::string benchmark;
  HostSide baseline;
  HostSide candidate;
  Contrast contrast{};
  CommonMovement common{};
  double p_slower = 1;
  double p_slower_by_itself = 1;  // whatever most benchmarks moved by
  double p_faster = 1;
};

std::vector<Row> rows_of(const Run& baseline, const Run& candidate, const LaunchParts& parts) {
  std::map<std::string_view, const BenchmarkSeries*> before;
  for (const BenchmarkSeries& series : baseline.benchmarks) before[series.name] = &series;
  std::vector<Row> rows;
  for (const BenchmarkSeries& series : candidate.benchmarks) {
    const auto found = before.find(series.name);
    if (found == before.end()) continue;
    if (!series.failure.empty() || !found->second->failure.empty()) continue;
    Row row{series.name, side_of(*found->second, parts), side_of(series, parts)};
    if (row.baseline.values.empty() || row.candidate.values.empty()) continue;
    rows.push_back(std::move(row));
  }
  return rows;
}

// What a process does to all benchmarks.
struct ProcessEffect {
  double effect = 0;
  int block = 0;
};
using ProcessEffects = std::map<int, ProcessEffect>;  // by process

// The median, over the benchmarks, of the process's logarithm less their side's mean. Nothing of a
// process that measured few. Zero in the mean.
ProcessEffects process_effects(const std::vector<Row>& rows, HostSide Row::*side) {
  std::map<int, std::vector<double>> deviations;
  std::map<int, int> blocks;
  for (const Row& row : rows) {
    const HostSide& values = row.*side;
    if (values.values.size() < 2) continue;
    const double mean = values.mean();
    for (const HostValue& value : values.values) {
      deviations[value.process].push_back(value.logarithm - mean);
      blocks[value.process] = value.block;
    }
  }
  ProcessEffects effects;
  double sum = 0;
  for (auto& [process, of_process] : deviations) {
    if (of_process.size() < kFewestRows) continue;
    const double effect = median(std::move(of_process));
    sum += effect;
    effects[process] = {effect, blocks[process]};
  }
  for (auto& [process, own] : effects) own.effect -= sum / static_cast<double>(effects.size());
  return effects;
}

// What an effect in the direction (1: slower, -1: faster) must exceed, as a logarithm. A gain is
// measured by what is left, as the slowdown that would undo it.
double threshold_of(const Row& row, double direction, const HostRule& rule) {
  const double from_ns = (direction > 0 ? row.baseline : row.candidate).median_ns();
  return std::log1p(std::max(rule.min_effect, rule.min_ns / from_ns));
}

class HostComparer {
 public:
  HostComparer(std::vector<Row>& rows, bool side_by_side, const Rule& rule)
      : rows_(rows),
        side_by_side_(side_by_side),
        rule_(rule),
        of_baseline_(process_effects(rows, &Row::baseline)),
        of_candidate_(process_effects(rows, &Row::candidate)) {}

  void compare() {
    contrast();
    test(&Row::p_slower_by_itself, 1);
    if (!side_by_side_) find_common_movement();
    test(&Row::p_slower, 1);
    test(&Row::p_faster, -1);
  }

 private:
  bool knows_processes() const { return !of_baseline_.empty() || !of_candidate_.empty(); }

  // Without what processes do to all benchmarks, and so without what blocks do.
  SideValues values_of(const HostSide& side, const ProcessEffects& effects) const {
    SideValues result;
    for (const HostValue& value : side.values) {
      const auto found = effects.find(value.process);
      const bool is_known = side.values.size() > 1 && found != effects.end();
      result.values.push_back(value.logarithm - (is_known ? found->second.effect : 0));
      if (side_by_side_ && !knows_processes()) result.blocks.push_back(value.block);
    }
    return result;
  }

  TwoSides sides_of(const Row& row) const {
    return {values_of(row.baseline, of_baseline_), values_of(row.candidate, of_candidate_),
            (row.baseline.mean() + row.candidate.mean()) / 2};
  }

  // What processes do to all benchmarks, a value a process.
  SideValues effects_of(const ProcessEffects& effects) const {
    SideValues side;
    for (const auto& [process, own] : effects) {
      side.values.push_back(own.effect);
      if (side_by_side_) side.blocks.push_back(own.block);
    }
    return side;
  }

  // Of one process, in what it does to all benchmarks; of processes in turn, within a block.
  VarianceEstimate variance_of_processes() const {
    const TwoSides sides{effects_of(of_baseline_), effects_of(of_candidate_)};
    if (sides.baseline.values.empty()) return pooled_variance({sides.candidate.values});
    if (sides.candidate.values.empty()) return pooled_variance({sides.baseline.values});
    return difference_of(sides).variance;
  }

  void contrast() {
    std::vector<TwoSides> suite;
    double most_freedom = 0;
    for (const Row& row : rows_) {
      suite.push_back(sides_of(row));
      most_freedom =
          std::max(most_freedom, difference_of(suite.back()).variance.degrees_of_freedom);
    }
    const auto contrasts = moderated_contrasts(suite);
    const VarianceEstimate of_process =
        knows_processes() ? variance_of_processes() : VarianceEstimate{};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Contrast& own = rows_[i].contrast = contrasts[i].contrast;
      if (knows_processes()) {
        const double share = 1 / static_cast<double>(suite[i].baseline.values.size()) +
                             1 / static_cast<double>(suite[i].candidate.values.size());
        add_variance({of_process.variance * share, of_process.degrees_of_freedom}, own);
      } else {
        // What a process does is in every benchmark's noise: more of them do not show it better.
        own.degrees_of_freedom = std::min(own.degrees_of_freedom, most_freedom);
      }
    }
  }

  void find_common_movement() {
    std::vector<Contrast> contrasts;
    for (const Row& row : rows_) contrasts.push_back(row.contrast);
    const auto common = common_movements(contrasts, std::vector<int>(rows_.size()));
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].common = common[i];
  }

  // One p value a benchmark, adjusted over all.
  void test(double Row::*result, double direction) {
    std::vector<double> p;
    for (const Row& row : rows_) {
      Contrast contrast = row.contrast;
      contrast.effect *= direction;
      contrast.scatter = direction > 0 ? row.common.upward : row.common.downward;
      p.push_back(p_above(contrast, threshold_of(row, direction, rule_.host) +
                                        std::max(0.0, direction * row.common.shift)));
    }
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].*result = adjusted[i];
  }

  std::vector<Row>& rows_;
  bool side_by_side_;
  const Rule& rule_;
  ProcessEffects of_baseline_;
  ProcessEffects of_candidate_;
};

// What keeps the row from being called, whatever it shows.
HostObstacle obstacle_of(const Row& row, bool other_host) {
  if (other_host) return HostObstacle::kOtherHost;
  // Two values have a spread, one has none.
  const bool has_one_value = std::min(row.baseline.values.size(), row.candidate.values.size()) < 2;
  if (has_one_value) return HostObstacle::kOneValue;
  const bool are_few = row.baseline.processes.are_few() || row.candidate.processes.are_few();
  return are_few ? HostObstacle::kFewProcesses : HostObstacle::kNone;
}

// Where the noise is unknown, as far as the two values go.
bool seems_slower(const Row& row, const Rule& rule) {
  if (!(row.contrast.degrees_of_freedom > 0)) {
    return row.contrast.effect > threshold_of(row, 1, rule.host);
  }
  return row.p_slower_by_itself <= rule.false_discovery_rate;
}

void add_change(const Row& row, HostLaunch launch, const Rule& rule, HostTimes& result) {
  HostChange change{.benchmark = row.benchmark,
                    .launch = launch,
                    .obstacle = obstacle_of(row, result.other_host)};
  const bool can_be_called = change.obstacle == HostObstacle::kNone;
  if (seems_slower(row, rule)) {
    change.p = row.p_slower;
    const bool is_certain = row.p_slower <= rule.false_discovery_rate;
    if (can_be_called && !is_certain) change.obstacle = HostObstacle::kSuiteMoved;
    change.verdict = can_be_called && is_certain ? HostVerdict::kSlower : HostVerdict::kLooksSlower;
  } else if (row.p_faster <= rule.false_discovery_rate && can_be_called) {
    change.p = row.p_faster;
    change.verdict = HostVerdict::kFaster;
  } else {
    return;
  }
  const Interval interval = confidence_interval(row.contrast, rule.confidence);
  change.effect = std::expm1(row.contrast.effect);
  change.interval = {std::expm1(interval.low), std::expm1(interval.high)};
  change.baseline_ns = row.baseline.median_ns();
  change.candidate_ns = row.candidate.median_ns();
  result.changes.push_back(std::move(change));
}

// Both known, and not the same.
bool differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}

}  // namespace

std::string_view host_launch_name(HostLaunch launch) {
  return launch == HostLaunch::kStream ? "stream" : "graph";
}

std::string_view host_verdict_name(HostVerdict verdict) {
  constexpr std::array<std::string_view, 3> kNames{"slower", "looks_slower", "faster"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

HostTimes compare_host_times(const Run& baseline, const Run& candidate, const Rule& rule) {
  const bool side_by_side = circumstances_of(baseline, candidate).side_by_side;
  const Provenance& before = baseline.provenance;
  const Provenance& after = candidate.provenance;
  HostTimes result;
  result.other_host =
      !side_by_side && (differ(before.host, after.host) || differ(before.cpu, after.cpu));
  for (const LaunchParts& parts : {kStream, kGraph}) {
    std::vector<Row> rows = rows_of(baseline, candidate, parts);
    HostComparer(rows, side_by_side, rule).compare();
    for (const Row& row : rows) add_change(row, parts.launch, rule, result);
    result.compared = std::max(result.compared, rows.size());
  }
  const auto order = [](const HostChange& change) {
    return std::pair(change.verdict, -std::abs(change.effect));
  };
  std::ranges::stable_sort(result.changes, {}, order);
  return result;
}

}  // namespace fusegate::baselines
