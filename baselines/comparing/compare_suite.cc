#include "baselines/comparing/compare_suite.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "baselines/comparing/between_cards.h"
#include "baselines/comparing/clock_share.h"
#include "baselines/comparing/drift.h"
#include "baselines/statistics/moderated_contrasts.h"
#include "baselines/statistics/null_distribution.h"

namespace fusegate::baselines {
namespace {

// The three quantities in which two runs are compared: time, cycles, and time at equal clock. What
// belongs to each lies in places of its own, which this names.
struct QuantityParts {
  double (*share)(const Comparison&);  // for log_at_share()
  const Contrast& (*contrast)(const Comparison&);
  VarianceEstimate BetweenCards::*cards;
  Shift Drift::*shift;
};

constexpr QuantityParts kTime{[](const Comparison&) { return 0.0; },
                              [](const Comparison& c) -> const Contrast& { return c.time; },
                              &BetweenCards::time, &Drift::time};
constexpr QuantityParts kCycles{[](const Comparison&) { return 1.0; },
                                [](const Comparison& c) -> const Contrast& { return *c.cycles; },
                                &BetweenCards::cycles, &Drift::cycles};
constexpr QuantityParts kEqualClock{
    [](const Comparison& c) { return c.clock_share; },
    [](const Comparison& c) -> const Contrast& { return *c.equal_clock; },
    &BetweenCards::equal_clock, &Drift::equal_clock};

// p of an effect in the direction (1: slower, -1: faster) beyond the smallest that matters and what
// the machine moved by.
double p_beyond(Contrast contrast, double direction, const Shift& shift, const Rule& rule) {
  contrast.effect *= direction;
  const double moved = direction > 0 ? shift.slower : shift.faster;
  return p_above(contrast, std::log1p(rule.min_effect) + moved);
}

const QuantityParts& parts_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::kTime:
      break;
    case Quantity::kEqualClock:
      return kEqualClock;
    case Quantity::kCycles:
      return kCycles;
  }
  return kTime;
}

// Which of a run's invocations enter.
enum class Part { kAll, kExtension };

struct Values {
  std::vector<double> logarithms;
  std::vector<int> blocks;
};

Values values_of(const BenchmarkSeries& series, double share, Part part) {
  Values values;
  for (const InvocationSummary& summary : series.invocations) {
    if (part == Part::kExtension && !summary.extension) continue;
    values.logarithms.push_back(log_at_share(summary, share));
    values.blocks.push_back(summary.block);
  }
  return values;
}

bool has_extension(const BenchmarkSeries& series) {
  return std::ranges::any_of(series.invocations, &InvocationSummary::extension);
}

// A stored baseline has no extension, and stands whole against the candidate's.
// share: which quantity (log_at_share()).
TwoSides sides_of(const Comparison& comparison, double share, const Circumstances& circumstances,
                  Part part = Part::kAll) {
  const Part baseline_part = has_extension(*comparison.baseline) ? part : Part::kAll;
  Values baseline = values_of(*comparison.baseline, share, baseline_part);
  Values candidate = values_of(*comparison.candidate, share, part);
  TwoSides sides;
  sides.baseline = std::move(baseline.logarithms);
  sides.candidate = std::move(candidate.logarithms);
  if (circumstances.side_by_side) {
    sides.baseline_blocks = std::move(baseline.blocks);
    sides.candidate_blocks = std::move(candidate.blocks);
  }
  sides.covariate = mean_log_time(comparison);
  return sides;
}

bool has_cycles(const Comparison& comparison) {
  return has_cycles(*comparison.baseline) && has_cycles(*comparison.candidate);
}

class SuiteComparer {
 public:
  SuiteComparer(std::vector<Comparison>& suite, const Circumstances& circumstances,
                const Rule& rule)
      : suite_(suite),
        circumstances_(circumstances),
        rule_(rule),
        noise_(suite.size()),
        movements_(suite.size()) {}

  void compare() {
    mark();
    groups_ = machine_groups(suite_);
    drift_ = contrast_all();
    for (Comparison& comparison : suite_) {
      comparison.controls_moved = drift_for(comparison).*deciding(comparison).shift;
    }
    adjust(&Comparison::p_slower, [this](std::size_t i) { return decide(i, 1); });
    adjust(&Comparison::p_faster, [this](std::size_t i) { return decide(i, -1); });
    adjust(&Comparison::p_slower_in_time_alone, [this](std::size_t i) {
      return p_beyond(suite_[i].time, 1, drift_for(suite_[i]).time, rule_);
    });
    adjust(&Comparison::p_faster_in_time_alone, [this](std::size_t i) {
      return p_beyond(suite_[i].time, -1, drift_for(suite_[i]).time, rule_);
    });
    for (std::size_t i = 0; i < suite_.size(); ++i) confirm(i);
  }

 private:
  void mark() {
    for (Comparison& comparison : suite_) {
      const bool single_baseline = comparison.baseline->invocations.size() < 2;
      const bool single_candidate = comparison.candidate->invocations.size() < 2;
      comparison.has_single_invocation = single_baseline || single_candidate;
      comparison.has_borrowed_noise = single_baseline && single_candidate;
      comparison.is_control = is_control(comparison.candidate->name);
      comparison.is_identical = equal_work(*comparison.baseline, *comparison.candidate);
      if (has_cycles(comparison)) {
        comparison.clock_share = clock_share({comparison.baseline, comparison.candidate});
      }
    }
  }

  // By how much controls moved, in what equal work does not tell of the machine.
  Drift contrast_all() {
    const auto time = [](Comparison& comparison) -> Contrast& { return comparison.time; };
    const auto cycles = [](Comparison& comparison) -> Contrast& {
      return comparison.cycles ? *comparison.cycles : comparison.cycles.emplace();
    };
    const auto equal_clock = [](Comparison& comparison) -> Contrast& {
      return comparison.equal_clock ? *comparison.equal_clock : comparison.equal_clock.emplace();
    };
    contrast(kTime, time);
    contrast(kCycles, cycles);
    contrast(kEqualClock, equal_clock);
    const bool told_in_time = take_machine_out(kTime, time);
    const bool told_in_cycles = take_machine_out(kCycles, cycles);
    const bool told_at_equal_clock = take_machine_out(kEqualClock, equal_clock);
    Drift drift = drift_of(suite_);
    if (told_in_time) drift.time = {};
    if (told_in_cycles) drift.cycles = {};
    if (told_at_equal_clock) drift.equal_clock = {};
    return drift;
  }

  std::vector<std::size_t> members_of(const QuantityParts& quantity) const {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      if (&quantity == &kTime || has_cycles(suite_[i])) members.push_back(i);
    }
    return members;
  }

  // Over the suite's benchmarks that have the quantity. Keeps the noise of the one that decides.
  template <typename Place>
  void contrast(const QuantityParts& quantity, Place place) {
    std::vector<TwoSides> sides;
    const std::vector<std::size_t> members = members_of(quantity);
    for (const std::size_t i : members) {
      sides.push_back(sides_of(suite_[i], quantity.share(suite_[i]), circumstances_));
    }
    const auto contrasts = moderated_contrasts(sides);
    for (std::size_t i = 0; i < members.size(); ++i) {
      Comparison& comparison = suite_[members[i]];
      place(comparison) = contrasts[i].contrast;
      if (&quantity == &deciding(comparison)) noise_[members[i]] = contrasts[i].variance;
    }
  }

  // What equal work says that the machine did leaves the other rows. Where there is too little of
  // it, two cards differ by what is known of cards. Whether it was told.
  template <typename Place>
  bool take_machine_out(const QuantityParts& quantity, Place place) {
    const std::vector<std::size_t> members = members_of(quantity);
    std::vector<NullRow> equal;
    for (const std::size_t i : members) {
      const Contrast& own = place(suite_[i]);
      const bool is_known = own.degrees_of_freedom > 0;
      if (is_known && tells_of_machine(suite_[i])) equal.push_back({own, groups_[i]});
    }
    const bool is_told = equal.size() >= kFewestNullRows;
    if (!is_told && !circumstances_.other_card) return false;
    const auto null = is_told ? std::optional(NullDistribution(equal)) : std::nullopt;
    for (const std::size_t i : members) {
      Comparison& comparison = suite_[i];
      if (!null) {
        add_variance(between_cards(*comparison.candidate).*quantity.cards, place(comparison));
      } else if (!tells_of_machine(comparison)) {
        const Movement movement = null->movement(groups_[i]);
        take_out(movement, place(comparison));
        if (&quantity == &deciding(comparison)) movements_[i] = movement;
      }
    }
    return is_told;
  }

  const QuantityParts& deciding(const Comparison& comparison) const {
    if (!has_cycles(comparison)) return kTime;  // whose contrasts may not be there yet
    return parts_of(quantity_with_cycles(circumstances_));
  }

  // A control is measured by what all others are measured by: not by itself.
  Drift drift_for(const Comparison& comparison) const {
    return comparison.is_unchangeable() ? Drift{} : drift_;
  }

  double decide(std::size_t i, double direction) const {
    const Comparison& comparison = suite_[i];
    const bool both_must_show = comparison.decided_by(circumstances_) == Quantity::kEqualClock;
    if (both_must_show && !both_show(comparison.time, *comparison.cycles, direction, rule_)) {
      return 1;
    }
    return p_beyond(comparison.stated(circumstances_), direction,
                    drift_for(comparison).*deciding(comparison).shift, rule_);
  }

  // One p value a benchmark, adjusted over those that a change can have slowed.
  template <typename PValue>
  void adjust(double Comparison::*result, PValue p_value) {
    std::vector<double> p;
    std::vector<std::size_t> family;
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      suite_[i].*result = p_value(i);
      if (suite_[i].is_unchangeable()) continue;
      family.push_back(i);
      p.push_back(suite_[i].*result);
    }
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (std::size_t i = 0; i < family.size(); ++i) suite_[family[i]].*result = adjusted[i];
  }

  // By the extension's own difference, with the noise that the whole run knows.
  void confirm(std::size_t i) {
    Comparison& comparison = suite_[i];
    if (movements_[i]) comparison.machine_shift = movements_[i]->shift;
    comparison.confirming_invocations = static_cast<int>(
        std::ranges::count_if(comparison.candidate->invocations, &InvocationSummary::extension));
    if (comparison.confirming_invocations == 0) return;
    const double share = deciding(comparison).share(comparison);
    const Difference difference =
        difference_of(sides_of(comparison, share, circumstances_, Part::kExtension));
    Contrast fresh{difference.effect, std::sqrt(noise_[i].variance * difference.share),
                   noise_[i].degrees_of_freedom};
    if (movements_[i]) take_out(*movements_[i], fresh);
    comparison.p_slower_confirmed = p_beyond(fresh, 1, comparison.controls_moved, rule_);
    comparison.p_faster_confirmed = p_beyond(fresh, -1, comparison.controls_moved, rule_);
  }

  std::vector<Comparison>& suite_;
  const Circumstances& circumstances_;
  const Rule& rule_;
  // Of one invocation, moderated over the suite, in the quantity that decides.
  std::vector<VarianceEstimate> noise_;
  std::vector<int> groups_;
  std::vector<std::optional<Movement>> movements_;  // likewise, where equal work tells it
  Drift drift_;
};

}  // namespace

void compare_suite(std::vector<Comparison>& suite, const Circumstances& circumstances,
                   const Rule& rule) {
  SuiteComparer(suite, circumstances, rule).compare();
}

}  // namespace fusegate::baselines
