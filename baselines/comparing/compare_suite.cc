#include "baselines/comparing/compare_suite.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "baselines/comparing/clock_share.h"
#include "baselines/comparing/drift.h"
#include "baselines/comparing/modes.h"
#include "baselines/statistics/card_factors.h"
#include "baselines/statistics/card_variances.h"
#include "baselines/statistics/common_movement.h"
#include "baselines/statistics/moderated_contrasts.h"
#include "baselines/statistics/null_distribution.h"

namespace fusegate::baselines {
namespace {

// The three quantities in which two runs are compared: time, cycles, and time at equal clock. What
// belongs to each lies in places of its own, which this names.
struct QuantityParts {
  double (*share)(const Comparison&);  // for log_at_share()
  const Contrast& (*contrast)(const Comparison&);
  Quantity name;
  Shift Drift::*shift;
};

constexpr QuantityParts kTime{[](const Comparison&) { return 0.0; },
                              [](const Comparison& c) -> const Contrast& { return c.time; },
                              Quantity::kTime, &Drift::time};
constexpr QuantityParts kCycles{[](const Comparison&) { return 1.0; },
                                [](const Comparison& c) -> const Contrast& { return *c.cycles; },
                                Quantity::kCycles, &Drift::cycles};
constexpr QuantityParts kEqualClock{
    [](const Comparison& c) { return c.clock_share; },
    [](const Comparison& c) -> const Contrast& { return *c.equal_clock; }, Quantity::kEqualClock,
    &Drift::equal_clock};

// p of an effect in the direction (1: slower, -1: faster) beyond the smallest that matters and what
// the machine moved by, or may have.
double p_beyond(Contrast contrast, double direction, const Shift& shift,
                const std::optional<CommonMovement>& common, const Rule& rule) {
  contrast.effect *= direction;
  double moved = direction > 0 ? shift.slower : shift.faster;
  if (common) {
    contrast.scatter = direction > 0 ? common->upward : common->downward;
    moved = std::max(moved, direction * common->shift);
  }
  return p_above(contrast, std::log1p(tested_effect(rule)) + moved);
}

// Of the mean of a stored card's processes. process: of one of them.
VarianceEstimate noise_of_a_card(const TwoSides& sides, const VarianceEstimate& process) {
  const auto cards = by_card(sides.baseline, sides.baseline_cards).size();
  const double processes =
      static_cast<double>(sides.baseline.size()) / static_cast<double>(std::max<std::size_t>(1, cards));
  return {process.variance / processes, process.degrees_of_freedom};
}

// By what it does in a row of a hundred.
const ScaledT& wider(const ScaledT& a, const ScaledT& b) {
  constexpr double kSeldom = 0.01;
  return upper_quantile(a, kSeldom) < upper_quantile(b, kSeldom) ? b : a;
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
  std::vector<int> cards;
};

// cards: the numbers of the run's cards (Circumstances). gap: what leaves the upper mode's values.
Values values_of(const Comparison& comparison, const BenchmarkSeries& series, double share,
                 Part part, const std::vector<int>& cards, double gap) {
  Values values;
  for (const InvocationSummary& summary : series.invocations) {
    const int card = cards.at(static_cast<std::size_t>(summary.card));
    if (card == kNotCompared || (part == Part::kExtension && !summary.extension)) continue;
    values.logarithms.push_back(log_at_share(summary, share) -
                                (is_in_upper_mode(comparison, summary) ? gap : 0));
    values.blocks.push_back(summary.block);
    values.cards.push_back(card);
  }
  return values;
}

ComparedProcesses compared(const BenchmarkSeries& series, const std::vector<int>& cards) {
  ComparedProcesses count;
  for (const InvocationSummary& summary : series.invocations) {
    if (cards.at(static_cast<std::size_t>(summary.card)) == kNotCompared) continue;
    ++count.all;
    count.fresh += summary.extension;
  }
  return count;
}

bool has_extension(const BenchmarkSeries& series) {
  return std::ranges::any_of(series.invocations, &InvocationSummary::extension);
}

// A stored baseline has no extension, and stands whole against the candidate's.
// share: which quantity (log_at_share()).
TwoSides sides_of(const Comparison& comparison, double share, const Circumstances& circumstances,
                  Part part = Part::kAll) {
  const Part baseline_part = has_extension(*comparison.baseline) ? part : Part::kAll;
  const double gap = gap_between_modes(comparison, circumstances, share);
  Values baseline = values_of(comparison, *comparison.baseline, share, baseline_part,
                              circumstances.baseline_cards, gap);
  Values candidate =
      values_of(comparison, *comparison.candidate, share, part, circumstances.candidate_cards, gap);
  TwoSides sides;
  sides.baseline = std::move(baseline.logarithms);
  sides.candidate = std::move(candidate.logarithms);
  if (circumstances.side_by_side) {
    sides.baseline_blocks = std::move(baseline.blocks);
    sides.candidate_blocks = std::move(candidate.blocks);
  }
  if (circumstances.baseline_cards.size() > 1 || circumstances.candidate_cards.size() > 1) {
    sides.baseline_cards = std::move(baseline.cards);
    sides.candidate_cards = std::move(candidate.cards);
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
    adjust_modes();
    adjust(&Comparison::p_slower_in_time_alone,
           [this](std::size_t i) { return in_time_alone(i, 1); });
    adjust(&Comparison::p_faster_in_time_alone,
           [this](std::size_t i) { return in_time_alone(i, -1); });
    look_at_common_movement();
    for (std::size_t i = 0; i < suite_.size(); ++i) confirm(i);
  }

 private:
  void mark() {
    for (Comparison& comparison : suite_) {
      comparison.of_baseline = compared(*comparison.baseline, circumstances_.baseline_cards);
      comparison.of_candidate = compared(*comparison.candidate, circumstances_.candidate_cards);
      const auto [fewest, most] =
          std::minmax({comparison.of_baseline.all, comparison.of_candidate.all});
      comparison.has_single_invocation = fewest < 2;
      comparison.has_borrowed_noise = most < 2;
      comparison.is_control = comparison.baseline->is_control;
      comparison.is_identical = equal_work(*comparison.baseline, *comparison.candidate);
      if (has_cycles(comparison)) {
        comparison.clock_share = clock_share({comparison.baseline, comparison.candidate});
      }
      if (comparison.is_unchangeable()) continue;
      find_modes(circumstances_, deciding(comparison).share(comparison), rule_, comparison);
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
    const bool told_in_time = contrast(kTime, time);
    const bool told_in_cycles = contrast(kCycles, cycles);
    const bool told_at_equal_clock = contrast(kEqualClock, equal_clock);
    Drift drift = drift_of(suite_);
    if (told_in_time) drift.time = {};
    if (told_in_cycles) drift.cycles = {};
    if (told_at_equal_clock) drift.equal_clock = {};
    return drift;
  }

  std::vector<std::size_t> members_of(const QuantityParts& quantity) const {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      const bool on_both = suite_[i].of_baseline.all > 0 && suite_[i].of_candidate.all > 0;
      if (on_both && (&quantity == &kTime || has_cycles(suite_[i]))) members.push_back(i);
    }
    return members;
  }

  // Over the suite's benchmarks that have the quantity. Keeps the noise of the one that decides.
  // Whether equal work told what the machine did.
  template <typename Place>
  bool contrast(const QuantityParts& quantity, Place place) {
    const std::vector<std::size_t> members = members_of(quantity);
    std::vector<TwoSides> sides;
    for (const std::size_t i : members) {
      sides.push_back(sides_of(suite_[i], quantity.share(suite_[i]), circumstances_));
    }
    const auto contrasts = moderated_contrasts(sides);
    for (std::size_t row = 0; row < members.size(); ++row) {
      const std::size_t i = members[row];
      place(suite_[i]) = contrasts[row].contrast;
      if (&quantity == &deciding(suite_[i])) noise_[i] = contrasts[row].variance;
    }
    const std::vector<std::size_t> unmoved = that_tell(members, place);
    if (unmoved.size() >= kFewestNullRows) {
      take_machine_out(quantity, members, sides, contrasts, place);
      return true;
    }
    if (circumstances_.other_card) {
      const std::vector<CardVariance> cards = variances_of_cards(sides, members);
      for (std::size_t row = 0; row < cards.size(); ++row) {
        const Comparison& comparison = suite_[members[row]];
        add_other_cards(quantity.name, comparison, cards[row], contrasts[row].variance,
                        place(suite_[members[row]]));
      }
      if (!rule_.asks_for_machine) add_scatter_of_rows(members, place);
      return false;
    }
    if (circumstances_.side_by_side || rule_.asks_for_machine) return false;
    return add_session(quantity, members, unmoved, place);
  }

  // Rows whose code is known to be the same, so that what they show is the machine's.
  template <typename Place>
  std::vector<std::size_t> that_tell(const std::vector<std::size_t>& members, Place place) {
    std::vector<std::size_t> rows;
    for (const std::size_t i : members) {
      if (place(suite_[i]).degrees_of_freedom > 0 && tells_of_machine(suite_[i])) rows.push_back(i);
    }
    return rows;
  }

  std::vector<CardVariance> variances_of_cards(const std::vector<TwoSides>& sides,
                                               const std::vector<std::size_t>& members) const {
    std::vector<CardRow> rows;
    for (std::size_t row = 0; row < members.size(); ++row) {
      rows.push_back({sides[row], groups_[members[row]]});
    }
    return card_variances(rows);
  }

  // By what the candidate's card does to rows of identical code, as the baseline's cards are: none
  // where it is one of these.
  template <typename Place>
  std::vector<CardPrediction> card_predictions(const std::vector<std::size_t>& members,
                                               const std::vector<TwoSides>& sides,
                                               const std::vector<ModeratedContrast>& contrasts,
                                               Place place) {
    if (!circumstances_.other_card) return std::vector<CardPrediction>(members.size());
    std::vector<CardFactorRow> rows;
    for (std::size_t row = 0; row < members.size(); ++row) {
      const Comparison& comparison = suite_[members[row]];
      rows.push_back({card_deviations(sides[row].baseline, sides[row].baseline_cards),
                      place(suite_[members[row]]), tells_of_machine(comparison),
                      noise_of_a_card(sides[row], contrasts[row].variance)});
    }
    return predict_card(rows);
  }

  // What rows of identical code say that the machine did leaves the other rows.
  template <typename Place>
  void take_machine_out(const QuantityParts& quantity, const std::vector<std::size_t>& members,
                        const std::vector<TwoSides>& sides,
                        const std::vector<ModeratedContrast>& contrasts, Place place) {
    const std::vector<CardPrediction> cards = card_predictions(members, sides, contrasts, place);
    std::vector<NullRow> rows;
    for (std::size_t row = 0; row < members.size(); ++row) {
      const std::size_t i = members[row];
      if (!tells_of_machine(suite_[i]) || !(place(suite_[i]).degrees_of_freedom > 0)) continue;
      Contrast contrast = place(suite_[i]);
      contrast.effect -= cards[row].shift;
      add_variance(cards[row].error, contrast);
      rows.push_back({contrast, groups_[i]});
    }
    const NullDistribution null(rows, members.size());
    for (std::size_t row = 0; row < members.size(); ++row) {
      const std::size_t i = members[row];
      if (tells_of_machine(suite_[i])) continue;
      Movement movement = null.movement(groups_[i]);
      add_variance(cards[row].error, place(suite_[i]));
      movement.shift += cards[row].shift;
      move(quantity, i, movement, place);
      suite_[i].machine_is_known = true;
    }
  }

  template <typename Place>
  void move(const QuantityParts& quantity, std::size_t i, const Movement& movement, Place place) {
    take_out(movement, place(suite_[i]));
    if (&quantity == &deciding(suite_[i])) movements_[i] = movement;
  }

  // Of two sessions on one card, where few rows are known to be of identical code or none is. Two
  // or more tell how all moved; without them a change that most rows of its kind share may be the
  // machine's. How single rows move, the rows themselves tell (common_movement.h). Whether rows of
  // identical code told.
  template <typename Place>
  bool add_session(const QuantityParts& quantity, const std::vector<std::size_t>& members,
                   const std::vector<std::size_t>& unmoved, Place place) {
    std::vector<std::size_t> others;
    std::ranges::copy_if(members, std::back_inserter(others),
                         [&](std::size_t i) { return !suite_[i].is_unchangeable(); });
    std::vector<Contrast> rows;
    std::vector<int> groups;
    const auto add = [&](std::size_t i) {
      rows.push_back(place(suite_[i]));
      groups.push_back(groups_[i]);
    };
    std::ranges::for_each(others, add);
    std::vector<CommonMovement> common = common_movements(rows, groups);
    double scatter = 0;
    for (const CommonMovement& own : common) {
      scatter += own.upward.scale / static_cast<double>(common.size());
    }
    const std::optional<Movement> told = movement_of(unmoved, scatter, place);
    if (told) {
      // They move no otherwise than the others do.
      std::ranges::for_each(unmoved, add);
      const auto about =
          movements_about(std::vector<double>(rows.size(), told->shift), rows, groups);
      for (std::size_t row = 0; row < common.size(); ++row) {
        common[row].upward = about[row].upward;
        common[row].downward = about[row].downward;
      }
    }
    for (std::size_t row = 0; row < others.size(); ++row) {
      const std::size_t i = others[row];
      CommonMovement own = common[row];
      if (told) {
        move(quantity, i, told_and_shared(*told, others.size(), own), place);
      } else {
        place(suite_[i]).scatter = own.upward;
      }
      if (&quantity == &deciding(suite_[i])) suite_[i].common = own;
    }
    return told.has_value();
  }

  // Of a row, by the few of identical code. Where most rows of its kind moved as these did, but for
  // less than matters, they say it too: what is left of theirs is common then, and the error known
  // by all of them. Else the code moved them.
  Movement told_and_shared(const Movement& told, std::size_t rows, CommonMovement& own) const {
    Movement movement = told;
    movement.scatter = own.upward;
    own.shift -= told.shift;
    const bool agrees = !own.is_of_few && std::abs(own.shift) <= std::log1p(rule_.min_effect);
    if (agrees) movement.error.degrees_of_freedom += static_cast<double>(rows);
    if (!agrees) own.shift = 0;
    own.is_of_few = false;
    return movement;
  }

  // What few rows of identical code share. Its error: that of their mean, and where they differ by
  // more than all rows do, by as much as classes of rows then do.
  template <typename Place>
  std::optional<Movement> movement_of(const std::vector<std::size_t>& unmoved,
                                      double scatter, Place place) {
    const auto count = static_cast<double>(unmoved.size());
    if (count < 2) return std::nullopt;
    Movement movement;
    double noise = 0;
    for (const std::size_t i : unmoved) {
      movement.shift += place(suite_[i]).effect / count;
      noise += std::pow(place(suite_[i]).standard_error, 2) / count;
    }
    double squares = 0;
    for (const std::size_t i : unmoved) {
      squares += std::pow(place(suite_[i]).effect - movement.shift, 2) / (count - 1);
    }
    const double all = noise + scatter * scatter;
    const double own = std::max(squares, noise);
    movement.error = {std::max(own, all) / count + std::max(0.0, own - all), count - 1};
    return movement;
  }

  // Where equal work does not tell: as the sides' cards do, or else as is known of the device. A
  // calibration may have seen a kind of card that the sides have not.
  void add_other_cards(Quantity quantity, const Comparison& comparison, const CardVariance& cards,
                       const VarianceEstimate& process, Contrast& contrast) const {
    const VarianceEstimate known = rule_.cards.variance(
        quantity, std::exp(mean_log_time(comparison)), cards.baseline_cards, cards.candidate_cards);
    const bool known_is_larger =
        known.variance > (cards.own.variance + cards.group.variance) * cards.share();
    const bool is_calibrated = !rule_.cards.calibration.empty();
    // Two cards tell next to nothing of a third.
    const bool is_known_better = known.degrees_of_freedom > cards.own.degrees_of_freedom;
    if (cards.tells() && !(is_calibrated && (known_is_larger || is_known_better))) {
      add_cards(cards, process, contrast);
    } else {
      add_variance(known, contrast);
    }
  }

  // A card of a kind that the others are not moves rows further apart than these tell: its own rows
  // show that, by how far they lie from their group's median, on the side where they lie further. Of
  // six H200s one lay 2.6 % off in two rows, by which the other five spread by 0.2 %
  // (docs/evidence/other-cards.md).
  template <typename Place>
  void add_scatter_of_rows(const std::vector<std::size_t>& members, Place place) {
    std::vector<Contrast> rows;
    std::vector<int> groups;
    for (const std::size_t i : members) {
      rows.push_back(place(suite_[i]));
      groups.push_back(groups_[i]);
    }
    const std::vector<CommonMovement> common = common_movements(rows, groups);
    for (std::size_t row = 0; row < members.size(); ++row) {
      Contrast& contrast = place(suite_[members[row]]);
      contrast.scatter = wider(common[row].upward, common[row].downward);
    }
  }

  // The smaller p of a row if nothing that its kind shares were the machine's, nor anything that is
  // but guessed of it.
  void look_at_common_movement() {
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      suite_[i].p_by_itself = std::min(suite_[i].p_slower, suite_[i].p_faster);
    }
    const bool any = std::ranges::any_of(suite_, [](const Comparison& comparison) {
      return comparison.common && (comparison.common->shift != 0 || comparison.common->is_of_few);
    });
    if (!any) return;
    const auto without_shift = [this](std::size_t i, double direction) {
      Comparison& comparison = suite_[i];
      const std::optional<CommonMovement> common = comparison.common;
      if (common) comparison.common->shift = 0;
      if (common && common->is_of_few) comparison.common->upward = comparison.common->downward = {};
      const double p = decide(i, direction);
      comparison.common = common;
      return p;
    };
    std::vector<double> slower(suite_.size()), faster(suite_.size());
    const auto keep = [this](std::vector<double>& p, double Comparison::*from) {
      for (std::size_t i = 0; i < p.size(); ++i) std::swap(p[i], suite_[i].*from);
    };
    adjust(&Comparison::p_by_itself, [&](std::size_t i) { return without_shift(i, 1); });
    keep(slower, &Comparison::p_by_itself);
    adjust(&Comparison::p_by_itself, [&](std::size_t i) { return without_shift(i, -1); });
    keep(faster, &Comparison::p_by_itself);
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      suite_[i].p_by_itself = std::min(slower[i], faster[i]);
    }
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
    if (comparison.modes && !comparison.has_comparable_modes()) return 1;
    const bool both_must_show = comparison.decided_by(circumstances_) == Quantity::kEqualClock;
    if (both_must_show && !both_show(comparison.time, *comparison.cycles, direction, rule_)) {
      return 1;
    }
    return p_beyond(comparison.stated(circumstances_), direction,
                    drift_for(comparison).*deciding(comparison).shift, comparison.common, rule_);
  }

  // Whatever the machine does to single benchmarks is in it: so is the clock.
  double in_time_alone(std::size_t i, double direction) const {
    Contrast time = suite_[i].time;
    time.scatter = {};
    return p_beyond(time, direction, drift_for(suite_[i]).time, {}, rule_);
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

  // Which benchmarks have two modes does not depend on which side is which, so these alone are a
  // family.
  void adjust_modes() {
    std::vector<double> p;
    std::vector<std::size_t> family;
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      if (!suite_[i].modes) continue;
      family.push_back(i);
      p.push_back(suite_[i].modes->p_slower);
    }
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (std::size_t i = 0; i < family.size(); ++i) {
      suite_[family[i]].p_slower_mode = adjusted[i];
    }
  }

  // By the extension's own difference, with the noise that the whole run knows.
  void confirm(std::size_t i) {
    Comparison& comparison = suite_[i];
    if (movements_[i]) comparison.machine_shift = movements_[i]->shift;
    if (comparison.of_candidate.fresh == 0) return;
    const double share = deciding(comparison).share(comparison);
    const Difference difference =
        difference_of(sides_of(comparison, share, circumstances_, Part::kExtension));
    Contrast fresh{difference.effect, std::sqrt(noise_[i].variance * difference.share),
                   noise_[i].degrees_of_freedom};
    if (movements_[i]) take_out(*movements_[i], fresh);
    fresh.scatter = comparison.stated(circumstances_).scatter;
    comparison.p_slower_confirmed = p_beyond(fresh, 1, comparison.controls_moved, {}, rule_);
    comparison.p_faster_confirmed = p_beyond(fresh, -1, comparison.controls_moved, {}, rule_);
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
