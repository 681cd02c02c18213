#include "baselines/comparing/comparison.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

bool is_sustained(const Run& run) {
  const nlohmann::json& protocol = run.provenance.protocol;
  return protocol.is_object() && protocol.value("regime", nlohmann::json()) == "sustained";
}

}  // namespace

Circumstances circumstances_of(const Run& baseline, const Run& candidate) {
  const std::string& card = baseline.provenance.device_uuid;
  const std::string& other = candidate.provenance.device_uuid;
  return {.side_by_side = !baseline.session.empty() && baseline.session == candidate.session,
          .other_card = !card.empty() && !other.empty() && card != other,
          .cycles_alone = is_sustained(baseline) && is_sustained(candidate)};
}

Quantity quantity_with_cycles(const Circumstances& circumstances) {
  if (circumstances.cycles_alone) return Quantity::kCycles;
  return circumstances.side_by_side ? Quantity::kTime : Quantity::kEqualClock;
}

Quantity Comparison::decided_by(const Circumstances& circumstances) const {
  return cycles ? quantity_with_cycles(circumstances) : Quantity::kTime;
}

const Contrast& Comparison::stated(const Circumstances& circumstances) const {
  switch (decided_by(circumstances)) {
    case Quantity::kTime:
      break;
    case Quantity::kEqualClock:
      return *equal_clock;
    case Quantity::kCycles:
      return *cycles;
  }
  return time;
}

bool work_is_known(const BenchmarkSeries& series) {
  return series.identity && series.identity->unknown.empty();
}

bool equal_work(const BenchmarkSeries& baseline, const BenchmarkSeries& candidate) {
  return baseline.identity && candidate.identity &&
         same_work(*baseline.identity, *candidate.identity);
}

bool both_show(const Contrast& time, const Contrast& cycles, double direction, const Rule& rule) {
  const double least = std::log1p(rule.min_effect) / 2;
  return direction * time.effect > least && direction * cycles.effect > least;
}

std::optional<bool> slower_by_the_clock(const Comparison& comparison, const Rule& rule) {
  const bool slower = comparison.p_slower_in_time_alone <= rule.false_discovery_rate;
  const bool faster = comparison.p_faster_in_time_alone <= rule.false_discovery_rate;
  if (!comparison.equal_clock || !comparison.cycles || (!slower && !faster)) return std::nullopt;
  const double direction = slower ? 1 : -1;
  const double left_at_equal_clock =
      std::min(direction * comparison.equal_clock->effect, direction * comparison.cycles->effect);
  const double half = direction * comparison.time.effect / 2;
  if (left_at_equal_clock > std::max(half, std::log1p(rule.min_effect))) return std::nullopt;
  return slower;
}

}  // namespace fusegate::baselines
