#include "baselines/comparing/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>

namespace fusegate::baselines {
namespace {

bool is_sustained(const Run& run) {
  const nlohmann::json& protocol = run.provenance.protocol;
  return protocol.is_object() && protocol.value("regime", nlohmann::json()) == "sustained";
}

// Where one side does not name its only card, it may be the other's: nothing says that they differ.
bool may_be_one_card(const std::vector<std::string>& baseline,
                     const std::vector<std::string>& candidate) {
  const auto is_unknown = [](const std::vector<std::string>& cards) {
    return cards.size() == 1 && cards.front().empty();
  };
  return baseline.size() == 1 && candidate.size() == 1 &&
         (is_unknown(baseline) || is_unknown(candidate));
}

void number_cards(const std::vector<std::string>& baseline,
                  const std::vector<std::string>& candidate, Circumstances& result) {
  result.baseline_cards.resize(baseline.size());
  std::iota(result.baseline_cards.begin(), result.baseline_cards.end(), 0);
  result.candidate_cards.assign(candidate.size(), 0);
  if (may_be_one_card(baseline, candidate)) return;
  std::vector<char> is_common(baseline.size());
  int next = static_cast<int>(baseline.size());
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    const auto index = std::ranges::find(baseline, candidate[i]) - baseline.begin();
    const bool is_known = static_cast<std::size_t>(index) < baseline.size();
    result.candidate_cards[i] = is_known ? static_cast<int>(index) : next++;
    if (is_known) is_common[static_cast<std::size_t>(index)] = true;
  }
  result.other_card = std::ranges::count(is_common, true) == 0;
  if (result.other_card) return;
  for (std::vector<int>* side : {&result.baseline_cards, &result.candidate_cards}) {
    for (int& card : *side) {
      const auto number = static_cast<std::size_t>(card);
      if (number >= is_common.size() || !is_common[number]) card = kNotCompared;
    }
  }
}

// Of all benchmarks that either measured, less than nine tenths by both.
bool measured_others(const Run& baseline, const Run& candidate) {
  constexpr double kMost = 0.9;
  std::map<std::string_view, int> sides;
  for (const Run* run : {&baseline, &candidate}) {
    for (const BenchmarkSeries& series : run->benchmarks) {
      if (!series.processes.empty()) ++sides[series.name];
    }
  }
  const auto both = std::ranges::count_if(sides, [](const auto& side) { return side.second == 2; });
  return static_cast<double>(both) < kMost * static_cast<double>(sides.size());
}

bool is_on_gpu(const Run& run) { return !run.provenance.device_uuid.empty(); }

}  // namespace

Circumstances circumstances_of(const Run& baseline, const Run& candidate) {
  const bool on_cpu =
      baseline.environment.contains(kCpuCycles) && candidate.environment.contains(kCpuCycles);
  Circumstances circumstances{
      .side_by_side = !baseline.session.empty() && baseline.session == candidate.session,
      .cycles_alone = (is_sustained(baseline) && is_sustained(candidate)) || on_cpu,
      .on_cpu = on_cpu};
  circumstances.among_others = !circumstances.side_by_side && is_on_gpu(baseline) &&
                               is_on_gpu(candidate) && measured_others(baseline, candidate);
  number_cards(cards_of(baseline), cards_of(candidate), circumstances);
  return circumstances;
}

const Contrast* Comparison::contrast(Quantity quantity) const {
  if (quantity == Quantity::kTime) return &time;
  const auto& own = quantity == Quantity::kCycles ? cycles : equal_clock;
  return own ? &*own : nullptr;
}

double counter_of(const BenchmarkSeries& series, const std::string& name) {
  const auto found = series.counters.find(name);
  return found == series.counters.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

std::optional<double> intensity_of(const BenchmarkSeries& series) {
  const double intensity = counter_of(series, "flops") / counter_of(series, "min_bytes");
  return std::isfinite(intensity) ? std::optional(intensity) : std::nullopt;
}

bool code_is_known(const BenchmarkSeries& series) {
  return series.identity && series.identity->unknown.empty();
}

bool identical_code(const BenchmarkSeries& baseline, const BenchmarkSeries& candidate) {
  return baseline.identity && candidate.identity &&
         identical_code(*baseline.identity, *candidate.identity);
}

bool both_show(const Contrast& time, const Contrast& cycles, double direction, double min_effect) {
  const double least = std::log1p(min_effect) / 2;
  return direction * time.effect > least && direction * cycles.effect > least;
}

std::optional<bool> slower_by_the_clock(const Comparison& comparison, double false_discovery_rate) {
  const bool slower = comparison.p_slower_in_time_alone <= false_discovery_rate;
  const bool faster = comparison.p_faster_in_time_alone <= false_discovery_rate;
  if (!comparison.equal_clock || !comparison.cycles || (!slower && !faster)) return std::nullopt;
  const double direction = slower ? 1 : -1;
  const double left_at_equal_clock =
      std::min(direction * comparison.equal_clock->effect, direction * comparison.cycles->effect);
  const double half = direction * comparison.time.effect / 2;
  if (left_at_equal_clock > std::max(half, std::log1p(comparison.limits.min_effect)))
    return std::nullopt;
  return slower;
}

}  // namespace fusegate::baselines
