#include "baselines/statistics/card_variances.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace fusegate::baselines {
namespace {

struct Cards {
  std::map<int, double> deviations;  // of each one's mean from that of the side's cards
  double noise_share = 0;            // the mean of 1/n

  double degrees_of_freedom() const { return static_cast<double>(deviations.size()) - 1; }
};
using Row = std::array<Cards, 2>;  // the baseline's, the candidate's

Cards cards_of(const SideValues& side) {
  Cards cards;
  double center = 0;
  const auto groups = by_card(side);
  const auto count = static_cast<double>(groups.size());
  for (const auto& [card, own] : groups) {
    cards.deviations[card] = mean(own);
    cards.noise_share += 1 / static_cast<double>(own.size()) / count;
    center += cards.deviations[card] / count;
  }
  for (auto& [card, deviation] : cards.deviations) deviation -= center;
  return cards;
}

// What each card of either side does to a group of rows: the means over the group's rows.
class GroupEffects {
 public:
  void add(const Row& row) {
    for (std::size_t side = 0; side < row.size(); ++side) {
      for (const auto& [card, deviation] : row[side].deviations) {
        Sum& sum = effects_[side][card];
        sum.value += deviation;
        ++sum.count;
      }
    }
  }

  // Over the cards of both sides, about none: deviations add up to zero.
  VarianceEstimate variance() const {
    VarianceEstimate result;
    for (const auto& side : effects_) {
      double squares = 0;
      for (const auto& [card, sum] : side) squares += std::pow(sum.value / sum.count, 2);
      result.variance += squares;
      result.degrees_of_freedom += std::max(0.0, static_cast<double>(side.size()) - 1);
    }
    if (result.degrees_of_freedom > 0) result.variance /= result.degrees_of_freedom;
    return result;
  }

  // What is left of a row's deviations once the group's are taken out. A group of one row has
  // nothing left.
  VarianceEstimate variance_within(const Row& row) const {
    VarianceEstimate left;
    for (std::size_t side = 0; side < row.size(); ++side) {
      const auto cards = static_cast<double>(row[side].deviations.size());
      if (cards < 2) continue;
      for (const auto& [card, deviation] : row[side].deviations) {
        const Sum& sum = effects_[side].at(card);
        left.variance += std::pow(deviation - sum.value / sum.count, 2);
        left.degrees_of_freedom += (cards - 1) / cards * (1 - 1.0 / sum.count);
      }
    }
    if (left.degrees_of_freedom > 0) left.variance /= left.degrees_of_freedom;
    return left;
  }

 private:
  struct Sum {
    double value = 0;
    int count = 0;
  };
  std::array<std::map<int, Sum>, 2> effects_;  // of the sides, by card
};

// Over the cards that contribute, the mean of 1/n.
double noise_share(const Row& row) {
  double share = 0, degrees_of_freedom = 0;
  for (const Cards& cards : row) {
    share += cards.degrees_of_freedom() * cards.noise_share;
    degrees_of_freedom += cards.degrees_of_freedom();
  }
  return degrees_of_freedom == 0 ? 0 : share / degrees_of_freedom;
}

}  // namespace

std::vector<CardVariance> card_variances(const std::vector<CardRow>& suite) {
  std::vector<Row> rows;
  std::map<int, GroupEffects> groups;
  for (const auto& [sides, group] : suite) {
    rows.push_back({cards_of(sides.baseline), cards_of(sides.candidate)});
    groups[group].add(rows.back());
  }
  std::vector<VarianceEstimate> own;
  std::vector<double> covariates;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    own.push_back(groups[suite[i].group].variance_within(rows[i]));
    covariates.push_back(suite[i].sides.covariate);
  }
  const std::vector<VarianceEstimate> moderated = moderate_together(own, covariates);
  std::vector<CardVariance> result;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    result.push_back({.own = moderated[i],
                      .group = groups[suite[i].group].variance(),
                      .noise_share = noise_share(rows[i]),
                      .baseline_cards = static_cast<int>(rows[i][0].deviations.size()),
                      .candidate_cards = static_cast<int>(rows[i][1].deviations.size())});
  }
  return result;
}

void add_cards(const CardVariance& cards, const VarianceEstimate& process, Contrast& contrast) {
  const double noise = contrast.standard_error * contrast.standard_error;
  const double in_cards = process.variance * cards.noise_share * cards.share();
  contrast.standard_error = std::sqrt(std::max(0.0, noise - in_cards));
  add_variance(cards.of_effect(), contrast);
  add_variance({cards.group.variance * cards.share(), cards.group.degrees_of_freedom}, contrast);
  // Nothing that goes by cards is known better than by the number of cards.
  contrast.degrees_of_freedom =
      std::min(contrast.degrees_of_freedom, cards.group.degrees_of_freedom);
}

}  // namespace fusegate::baselines
