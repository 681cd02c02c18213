#include "baselines/comparing/machine_effects.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "baselines/comparing/drift.h"
#include "baselines/statistics/card_factors.h"
#include "baselines/statistics/card_variances.h"
#include "baselines/statistics/common_movement.h"
#include "baselines/statistics/null_distribution.h"

namespace fusegate::baselines {
namespace {

// Of the mean of a stored card's processes.
VarianceEstimate noise_of_a_card(const QuantityRow& row) {
  const SideValues& side = row.sides.baseline;
  const double processes = static_cast<double>(side.values.size()) /
                           static_cast<double>(std::max<std::size_t>(1, by_card(side).size()));
  return {row.noise.variance / processes, row.noise.degrees_of_freedom};
}

// By what it does in a row of a hundred.
const ScaledT& wider(const ScaledT& a, const ScaledT& b) {
  constexpr double kSeldom = 0.01;
  return upper_quantile(a, kSeldom) < upper_quantile(b, kSeldom) ? b : a;
}

bool shows_machine(const QuantityRow& row) {
  return row.contrast->degrees_of_freedom > 0 && shows_machine_alone(*row.comparison);
}

// The rows' contrasts and groups, as common_movements() takes them.
struct Movers {
  std::vector<Contrast> contrasts;
  std::vector<int> groups;

  void add(const QuantityRow& row) {
    contrasts.push_back(*row.contrast);
    groups.push_back(row.comparison->group);
  }
};

class MachineEffects {
 public:
  MachineEffects(QuantityRows& suite, const Circumstances& circumstances, const Rule& rule)
      : suite_(suite), rows_(suite.rows), circumstances_(circumstances), rule_(rule) {}

  bool take_out_of_rows() {
    std::vector<QuantityRow*> unmoved;
    for (QuantityRow& row : rows_) {
      if (shows_machine(row)) unmoved.push_back(&row);
    }
    if (unmoved.size() >= kFewestNullRows) {
      by_identical_code();
      return true;
    }
    if (circumstances_.other_card) {
      by_cards();
      return false;
    }
    if (circumstances_.side_by_side || rule_.asks_for_machine) return false;
    return by_common_movement(unmoved);
  }

 private:
  void by_identical_code() {
    const std::vector<CardPrediction> cards = card_predictions();
    std::vector<NullRow> null_rows;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!shows_machine(rows_[i])) continue;
      Contrast contrast = *rows_[i].contrast;
      contrast.effect -= cards[i].shift;
      add_variance(cards[i].error, contrast);
      null_rows.push_back({contrast, rows_[i].comparison->group});
    }
    const NullDistribution null(null_rows, rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      QuantityRow& row = rows_[i];
      if (shows_machine_alone(*row.comparison)) continue;
      Movement movement = null.movement(row.comparison->group);
      add_variance(cards[i].error, *row.contrast);
      movement.shift += cards[i].shift;
      move(movement, row);
      row.comparison->machine_is_known = true;
    }
  }

  // By what the candidate's card does to rows of identical code, as the baseline's cards are: none
  // where it is one of these.
  std::vector<CardPrediction> card_predictions() const {
    if (!circumstances_.other_card) return std::vector<CardPrediction>(rows_.size());
    std::vector<CardFactorRow> known;
    for (const QuantityRow& row : rows_) {
      known.push_back({card_deviations(row.sides.baseline), *row.contrast,
                       shows_machine_alone(*row.comparison), noise_of_a_card(row)});
    }
    return predict_card(known);
  }

  void move(const Movement& movement, QuantityRow& row) const {
    take_out(movement, *row.contrast);
    if (decides(row)) row.comparison->machine = movement;
  }

  bool decides(const QuantityRow& row) const { return suite_.quantity == row.comparison->decides; }

  void by_cards() {
    std::vector<CardRow> card_rows;
    for (const QuantityRow& row : rows_) card_rows.push_back({row.sides, row.comparison->group});
    const std::vector<CardVariance> cards = card_variances(card_rows);
    for (std::size_t i = 0; i < rows_.size(); ++i) add_other_cards(cards[i], rows_[i]);
    if (!rule_.asks_for_machine) add_scatter_of_rows();
  }

  // As the sides' cards differ, or else as is known of the device. A calibration may have seen a
  // kind of card that the sides have not.
  void add_other_cards(const CardVariance& cards, QuantityRow& row) const {
    const VarianceEstimate known =
        rule_.cards.variance(suite_.quantity, std::exp(mean_log_time(*row.comparison)),
                             cards.baseline_cards, cards.candidate_cards);
    const bool known_is_larger =
        known.variance > (cards.own.variance + cards.group.variance) * cards.share();
    const bool is_calibrated = !rule_.cards.calibration.empty();
    // Two cards show next to nothing of a third.
    const bool is_known_better = known.degrees_of_freedom > cards.own.degrees_of_freedom;
    if (cards.is_known() && !(is_calibrated && (known_is_larger || is_known_better))) {
      add_cards(cards, row.noise, *row.contrast);
    } else {
      add_variance(known, *row.contrast);
    }
  }

  // A card of a kind that the others are not moves rows further apart than these show: its own rows
  // show that, by how far they lie from their group's median, on the side where they lie further.
  // Of six H200s one lay 2.6 % off in two rows, by which the other five spread by 0.2 %
  // (docs/evidence/other-cards.md).
  void add_scatter_of_rows() {
    Movers movers;
    for (const QuantityRow& row : rows_) movers.add(row);
    const std::vector<CommonMovement> common = common_movements(movers.contrasts, movers.groups);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].contrast->scatter = wider(common[i].upward, common[i].downward);
    }
  }

  // Of two sessions on one card, where few rows are of identical code or none is. Two or more show
  // how all moved; without them a change that most rows of a kind share may be the machine's. How
  // single rows move, the rows themselves show. Whether rows of identical code showed it.
  bool by_common_movement(const std::vector<QuantityRow*>& unmoved) {
    std::vector<QuantityRow*> others;
    Movers movers;
    for (QuantityRow& row : rows_) {
      if (row.comparison->is_unchangeable()) continue;
      others.push_back(&row);
      movers.add(row);
    }
    std::vector<CommonMovement> common = common_movements(movers.contrasts, movers.groups);
    double scatter = 0;
    for (const CommonMovement& own : common) {
      scatter += own.upward.scale / static_cast<double>(common.size());
    }
    const std::optional<Movement> known = movement_of(unmoved, scatter);
    if (known) {
      // They move no otherwise than the others do.
      for (const QuantityRow* row : unmoved) movers.add(*row);
      const std::vector<double> shifts(movers.contrasts.size(), known->shift);
      const auto about = movements_about(shifts, movers.contrasts, movers.groups);
      for (std::size_t i = 0; i < common.size(); ++i) {
        common[i].upward = about[i].upward;
        common[i].downward = about[i].downward;
      }
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
      QuantityRow& row = *others[i];
      CommonMovement own = common[i];
      if (known) {
        move(known_and_shared(*known, others.size(), row.comparison->limits, own), row);
      } else {
        row.contrast->scatter = own.upward;
      }
      if (decides(row)) row.comparison->common = own;
    }
    return known.has_value();
  }

  // Of a row, by the few of identical code. Where most rows of its kind moved as these did, but for
  // less than matters, they confirm it: what is left of theirs is common then, and the error known
  // by all of them. Else the code moved them.
  static Movement known_and_shared(const Movement& known, std::size_t rows, const Limits& limits,
                                   CommonMovement& own) {
    Movement movement = known;
    movement.scatter = own.upward;
    own.shift -= known.shift;
    const bool agrees = !own.is_of_few && std::abs(own.shift) <= std::log1p(limits.min_effect);
    if (agrees) movement.error.degrees_of_freedom += static_cast<double>(rows);
    if (!agrees) own.shift = 0;
    own.is_of_few = false;
    return movement;
  }

  // What few rows of identical code share. Its error: that of their mean, and where they differ by
  // more than all rows do, by as much as classes of rows then do.
  static std::optional<Movement> movement_of(const std::vector<QuantityRow*>& unmoved,
                                             double scatter) {
    const auto count = static_cast<double>(unmoved.size());
    if (count < 2) return std::nullopt;
    Movement movement;
    double noise = 0;
    for (const QuantityRow* row : unmoved) {
      movement.shift += row->contrast->effect / count;
      noise += std::pow(row->contrast->standard_error, 2) / count;
    }
    double squares = 0;
    for (const QuantityRow* row : unmoved) {
      squares += std::pow(row->contrast->effect - movement.shift, 2) / (count - 1);
    }
    const double all = noise + scatter * scatter;
    const double own = std::max(squares, noise);
    movement.error = {std::max(own, all) / count + std::max(0.0, own - all), count - 1};
    return movement;
  }

  QuantityRows& suite_;
  std::vector<QuantityRow>& rows_;
  const Circumstances& circumstances_;
  const Rule& rule_;
};

}  // namespace

bool take_machine_out(QuantityRows& suite, const Circumstances& circumstances, const Rule& rule) {
  return MachineEffects(suite, circumstances, rule).take_out_of_rows();
}

}  // namespace fusegate::baselines
