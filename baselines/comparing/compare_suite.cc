#include "baselines/comparing/compare_suite.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "baselines/comparing/clock_share.h"
#include "baselines/comparing/drift.h"
#include "baselines/comparing/machine_effects.h"
#include "baselines/comparing/modes.h"
#include "baselines/comparing/quantity_rows.h"
#include "baselines/statistics/common_movement.h"

namespace fusegate::baselines {
namespace {

constexpr double kSlower = 1;
constexpr double kFaster = -1;

ComparedProcesses compared(const BenchmarkSeries& series, const std::vector<int>& cards) {
  ComparedProcesses count;
  for (const ProcessSummary& summary : series.processes) {
    if (cards.at(static_cast<std::size_t>(summary.card)) == kNotCompared) continue;
    ++count.all;
    count.fresh += summary.extension;
  }
  return count;
}

// By which a benchmark is judged that has cycles on both sides; without them it is time.
Quantity quantity_with_cycles(const Circumstances& circumstances) {
  if (circumstances.cycles_alone) return Quantity::kCycles;
  return circumstances.side_by_side ? Quantity::kTime : Quantity::kEqualClock;
}

// All that is known before the suite's noise is.
void describe(const Circumstances& circumstances, Comparison& comparison) {
  const BenchmarkSeries& baseline = *comparison.baseline;
  const BenchmarkSeries& candidate = *comparison.candidate;
  comparison.of_baseline = compared(baseline, circumstances.baseline_cards);
  comparison.of_candidate = compared(candidate, circumstances.candidate_cards);
  const auto [fewest, most] =
      std::minmax({comparison.of_baseline.all, comparison.of_candidate.all});
  comparison.has_single_process = fewest < 2;
  comparison.has_borrowed_noise = most < 2;
  comparison.is_control = baseline.is_control;
  comparison.is_identical = identical_code(baseline, candidate);
  if (has_cycles(baseline) && has_cycles(candidate)) {
    comparison.clock_share = clock_share({&baseline, &candidate});
    comparison.decides = quantity_with_cycles(circumstances);
  }
  if (!comparison.is_unchangeable()) find_modes(circumstances, comparison);
}

void describe_all(const Circumstances& circumstances, std::vector<Comparison>& suite) {
  for (Comparison& comparison : suite) describe(circumstances, comparison);
  const std::vector<int> groups = machine_groups(suite);
  for (std::size_t i = 0; i < suite.size(); ++i) suite[i].group = groups[i];
}

// How far controls moved, in the quantities in which identical code does not show the machine.
Drift contrast_all(const Circumstances& circumstances, const Rule& rule,
                   std::vector<Comparison>& suite) {
  std::vector<Quantity> known;
  for (const Quantity quantity : kQuantities) {
    QuantityRows rows = contrast_rows(suite, quantity, circumstances);
    if (take_machine_out(rows, circumstances, rule)) known.push_back(quantity);
  }
  Drift drift = drift_of(suite);
  for (const Quantity quantity : known) drift.erase(quantity);
  return drift;
}

// A control is measured by what all others are measured by: not by itself.
Shift shift_for(const Comparison& comparison, const Drift& drift, Quantity quantity) {
  const auto found = drift.find(quantity);
  return comparison.is_unchangeable() || found == drift.end() ? Shift{} : found->second;
}

// p of an effect in the direction beyond the smallest that matters and what the machine moved by,
// or may have.
double p_beyond(Contrast contrast, double direction, const Shift& shift,
                const std::optional<CommonMovement>& common, const Limits& limits) {
  contrast.effect *= direction;
  double moved = shift.in_direction(direction);
  if (common) {
    contrast.scatter = direction > 0 ? common->upward : common->downward;
    moved = std::max(moved, direction * common->shift);
  }
  return p_above(contrast, std::log1p(limits.tested_effect) + moved);
}

// The p values of a suite whose benchmarks are contrasted.
class PValues {
 public:
  PValues(std::vector<Comparison>& suite, const Circumstances& circumstances, const Drift& drift)
      : suite_(suite), circumstances_(circumstances), drift_(drift) {}

  void set_all() {
    set(&Comparison::p_slower, [&](Comparison& one) { return of_change(one, kSlower); });
    set(&Comparison::p_faster, [&](Comparison& one) { return of_change(one, kFaster); });
    // Which benchmarks are bimodal does not depend on which side is which, so these alone are a
    // family.
    set(
        &Comparison::p_slower_mode,
        [](const Comparison& one) { return one.modes ? one.modes->p_slower : 1; },
        [](const Comparison& one) { return one.is_asked && one.modes.has_value(); });
    set(&Comparison::p_slower_in_time_alone,
        [&](Comparison& one) { return in_time_alone(one, kSlower); });
    set(&Comparison::p_faster_in_time_alone,
        [&](Comparison& one) { return in_time_alone(one, kFaster); });
    set_by_itself();
    for (Comparison& comparison : suite_) confirm(comparison);
  }

 private:
  // One p value a benchmark, adjusted over the family.
  template <typename PValue, typename IsMember>
  void set(double Comparison::*result, PValue p_value, IsMember is_member) {
    std::vector<double> p;
    std::vector<Comparison*> family;
    for (Comparison& comparison : suite_) {
      comparison.*result = p_value(comparison);
      if (!is_member(comparison)) continue;
      family.push_back(&comparison);
      p.push_back(comparison.*result);
    }
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (std::size_t i = 0; i < family.size(); ++i) family[i]->*result = adjusted[i];
  }

  // Over those that are asked for and that a change can have slowed.
  template <typename PValue>
  void set(double Comparison::*result, PValue p_value) {
    set(result, p_value,
        [](const Comparison& one) { return one.is_asked && !one.is_unchangeable(); });
  }

  double of_change(const Comparison& comparison, double direction) const {
    if (comparison.modes && !comparison.has_comparable_modes()) return 1;
    const bool both_must_show = comparison.cycles && comparison.decides == Quantity::kEqualClock;
    if (both_must_show &&
        !both_show(comparison.time, *comparison.cycles, direction, comparison.limits.min_effect)) {
      return 1;
    }
    return p_beyond(comparison.stated(), direction, comparison.controls_moved, comparison.common,
                    comparison.limits);
  }

  // Whatever the machine does to single benchmarks is in it: so is the clock.
  double in_time_alone(const Comparison& comparison, double direction) const {
    Contrast time = comparison.time;
    time.scatter = {};
    return p_beyond(time, direction, shift_for(comparison, drift_, Quantity::kTime), {},
                    comparison.limits);
  }

  // The smaller p of a benchmark if nothing that its kind shares were the machine's, nor anything
  // that is but guessed of it.
  void set_by_itself() {
    for (Comparison& one : suite_) one.p_by_itself = std::min(one.p_slower, one.p_faster);
    const bool any = std::ranges::any_of(suite_, [](const Comparison& comparison) {
      return comparison.common && (comparison.common->shift != 0 || comparison.common->is_of_few);
    });
    if (!any) return;
    const std::vector<double> slower = without_shift(kSlower), faster = without_shift(kFaster);
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      suite_[i].p_by_itself = std::min(slower[i], faster[i]);
    }
  }

  std::vector<double> without_shift(double direction) {
    set(&Comparison::p_by_itself, [&](Comparison& comparison) {
      const std::optional<CommonMovement> common = comparison.common;
      if (common) comparison.common->shift = 0;
      if (common && common->is_of_few) comparison.common->upward = comparison.common->downward = {};
      const double p = of_change(comparison, direction);
      comparison.common = common;
      return p;
    });
    std::vector<double> p;
    for (const Comparison& comparison : suite_) p.push_back(comparison.p_by_itself);
    return p;
  }

  // By the extension's own difference, with the noise of the whole run.
  void confirm(Comparison& comparison) const {
    if (comparison.of_candidate.fresh == 0) return;
    const Difference difference =
        difference_of(sides_of(comparison, comparison.decides, circumstances_, Part::kExtension));
    Contrast fresh{difference.effect, std::sqrt(comparison.noise.variance * difference.share),
                   comparison.noise.degrees_of_freedom};
    if (comparison.machine) take_out(*comparison.machine, fresh);
    fresh.scatter = comparison.stated().scatter;
    comparison.p_slower_confirmed =
        p_beyond(fresh, kSlower, comparison.controls_moved, {}, comparison.limits);
    comparison.p_faster_confirmed =
        p_beyond(fresh, kFaster, comparison.controls_moved, {}, comparison.limits);
  }

  std::vector<Comparison>& suite_;
  const Circumstances& circumstances_;
  const Drift& drift_;
};

}  // namespace

void compare_suite(std::vector<Comparison>& suite, const Circumstances& circumstances,
                   const Rule& rule) {
  describe_all(circumstances, suite);
  const Drift drift = contrast_all(circumstances, rule, suite);
  for (Comparison& comparison : suite) {
    comparison.controls_moved = shift_for(comparison, drift, comparison.decides);
  }
  PValues(suite, circumstances, drift).set_all();
}

}  // namespace fusegate::baselines
