#include "baselines/comparing/modes.h"

#include <cmath>
#include <map>
#include <tuple>

#include "baselines/comparing/clock_share.h"
#include "baselines/statistics/two_clusters.h"

namespace fusegate::baselines {
namespace {

struct Process {
  double value = 0;
  double log_time = 0;
  int block = 0;
  int card = 0;
  bool is_fresh = false;
  bool is_candidate = false;
};

void add_side(const BenchmarkSeries& series, const std::vector<int>& cards, double share,
              bool is_candidate, std::vector<Process>& processes) {
  for (const ProcessSummary& summary : series.processes) {
    const int card = cards.at(static_cast<std::size_t>(summary.card));
    if (card == kNotCompared) continue;
    processes.push_back({log_at_share(summary, share), std::log(summary.time_ns), summary.block,
                         card, summary.extension, is_candidate});
  }
}

// Whether processes of one group lie in both clusters.
template <typename Group>
bool any_shows_both(const std::vector<Process>& processes, double boundary, Group group_of) {
  std::map<decltype(group_of(processes.front())), std::pair<bool, bool>> seen;
  for (const Process& process : processes) {
    auto& [below, above] = seen[group_of(process)];
    (process.value > boundary ? above : below) = true;
  }
  return std::ranges::any_of(
      seen, [](const auto& group) { return group.second.first && group.second.second; });
}

// Fisher's p, of the fresh processes of each side alone where it has some.
double p_slower(const std::vector<Process>& processes, double boundary, bool fresh_alone) {
  bool has_fresh[2] = {false, false};
  for (const Process& process : processes) has_fresh[process.is_candidate] |= process.is_fresh;
  int lower[2] = {0, 0};
  int upper[2] = {0, 0};
  for (const Process& process : processes) {
    if (fresh_alone && has_fresh[process.is_candidate] && !process.is_fresh) continue;
    ++(process.value > boundary ? upper : lower)[process.is_candidate];
  }
  return hypergeometric_upper_tail(upper[1], lower[1] + upper[1], lower[0] + upper[0],
                                   upper[0] + upper[1]);
}

void add_to(Modes::Cluster& cluster, const Process& process) {
  cluster.time_ns += process.log_time;  // the sum, until it is divided
  ++(process.is_candidate ? cluster.candidate : cluster.baseline);
}

double gap_on_side(const Comparison& comparison, const BenchmarkSeries& series,
                   const std::vector<int>& cards, double share) {
  double sums[2] = {0, 0};
  int counts[2] = {0, 0};
  for (const ProcessSummary& summary : series.processes) {
    if (cards.at(static_cast<std::size_t>(summary.card)) == kNotCompared) continue;
    const bool is_upper = is_in_upper_mode(comparison, summary);
    sums[is_upper] += log_at_share(summary, share);
    ++counts[is_upper];
  }
  return sums[1] / counts[1] - sums[0] / counts[0];
}

}  // namespace

void find_modes(const Circumstances& circumstances, Comparison& comparison) {
  const double share = comparison.share_of(comparison.decides);
  std::vector<Process> processes;
  add_side(*comparison.baseline, circumstances.baseline_cards, share, false, processes);
  add_side(*comparison.candidate, circumstances.candidate_cards, share, true, processes);
  std::vector<double> values;
  for (const Process& process : processes) values.push_back(process.value);
  const auto boundary =
      cluster_boundary(std::move(values), std::log1p(comparison.limits.min_effect));
  if (!boundary) return;
  const auto side_and_card = [](const Process& process) {
    return std::pair(process.is_candidate, process.card);
  };
  const auto block = [](const Process& process) { return process.block; };
  if (!any_shows_both(processes, *boundary, side_and_card)) return;
  if (circumstances.side_by_side && !any_shows_both(processes, *boundary, block)) return;
  Modes modes;
  for (const Process& process : processes) {
    add_to(process.value > *boundary ? modes.upper : modes.lower, process);
  }
  for (Modes::Cluster* cluster : {&modes.lower, &modes.upper}) {
    cluster->time_ns = std::exp(cluster->time_ns / (cluster->baseline + cluster->candidate));
  }
  modes.p_slower = p_slower(processes, *boundary, false);
  modes.p_slower_confirmed = p_slower(processes, *boundary, true);
  comparison.modes = modes;
  comparison.modes_boundary = *boundary;
}

bool is_in_upper_mode(const Comparison& comparison, const ProcessSummary& summary) {
  const double share = comparison.share_of(comparison.decides);
  return comparison.modes && log_at_share(summary, share) > comparison.modes_boundary;
}

double gap_between_modes(const Comparison& comparison, const Circumstances& circumstances,
                         double share) {
  if (!comparison.has_comparable_modes()) return 0;
  return (gap_on_side(comparison, *comparison.baseline, circumstances.baseline_cards, share) +
          gap_on_side(comparison, *comparison.candidate, circumstances.candidate_cards, share)) /
         2;
}

}  // namespace fusegate::baselines
