#include "baselines/statistics/card_variances.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace fusegate::baselines {
namespace {

// Of each card's mean from that of its side's cards.
struct Side {
  std::map<int, double> deviations;
  double noise_share = 0;  // the mean of 1/n
};

Side side_of(const std::vector<double>& values, const std::vector<int>& cards) {
  Side side;
  double center = 0;
  const auto groups = by_card(values, cards);
  for (const auto& [card, own] : groups) {
    const auto count = static_cast<double>(own.size());
    const double mean = std::accumulate(own.begin(), own.end(), 0.0) / count;
    side.deviations[card] = mean;
    side.noise_share += 1 / count / static_cast<double>(groups.size());
    center += mean / static_cast<double>(groups.size());
  }
  for (auto& [card, deviation] : side.deviations) deviation -= center;
  return side;
}

struct Sum {
  double value = 0;
  int count = 0;
};

// What each card does to each group of rows, side by side.
class GroupEffects {
 public:
  void add(int side, int group, const Side& own) {
    for (const auto& [card, deviation] : own.deviations) {
      Sum& sum = effects_[{side, group, card}];
      sum.value += deviation;
      ++sum.count;
    }
  }
  double of(int side, int group, int card) const {
    const Sum& sum = effects_.at({side, group, card});
    return sum.value / sum.count;
  }
  int rows(int side, int group, int card) const { return effects_.at({side, group, card}).count; }

  // Over the cards of both sides, about none: deviations add up to zero.
  VarianceEstimate variance(int group) const {
    VarianceEstimate result;
    for (int side = 0; side < 2; ++side) {
      double squares = 0;
      int cards = 0;
      for (const auto& [key, sum] : effects_) {
        if (std::get<0>(key) != side || std::get<1>(key) != group) continue;
        squares += std::pow(sum.value / sum.count, 2);
        ++cards;
      }
      result.variance += squares;
      result.degrees_of_freedom += std::max(0, cards - 1);
    }
    if (result.degrees_of_freedom > 0) result.variance /= result.degrees_of_freedom;
    return result;
  }

 private:
  std::map<std::tuple<int, int, int>, Sum> effects_;
};

// What is left of a side's deviations once the group's are taken out. A group of one row has
// nothing left.
void add_residuals(int side, int group, const Side& own, const GroupEffects& effects,
                   VarianceEstimate& sum) {
  const auto cards = static_cast<double>(own.deviations.size());
  if (cards < 2) return;
  for (const auto& [card, deviation] : own.deviations) {
    sum.variance += std::pow(deviation - effects.of(side, group, card), 2);
    sum.degrees_of_freedom += (cards - 1) / cards * (1 - 1.0 / effects.rows(side, group, card));
  }
}

// Over the cards that contribute, the mean of 1/n.
double noise_share(const std::pair<Side, Side>& row) {
  const auto& [baseline, candidate] = row;
  const std::size_t baseline_freedom = baseline.deviations.size() - 1;
  const std::size_t candidate_freedom = candidate.deviations.size() - 1;
  const auto freedom = static_cast<double>(baseline_freedom + candidate_freedom);
  if (freedom == 0) return 0;
  return (static_cast<double>(baseline_freedom) * baseline.noise_share +
          static_cast<double>(candidate_freedom) * candidate.noise_share) /
         freedom;
}

}  // namespace

std::vector<CardVariance> card_variances(const std::vector<CardRow>& suite) {
  std::vector<std::pair<Side, Side>> rows;
  GroupEffects effects;
  for (const CardRow& row : suite) {
    auto& [baseline, candidate] =
        rows.emplace_back(side_of(row.sides.baseline, row.sides.baseline_cards),
                          side_of(row.sides.candidate, row.sides.candidate_cards));
    effects.add(0, row.group, baseline);
    effects.add(1, row.group, candidate);
  }
  std::map<int, VarianceEstimate> groups;
  std::vector<VarianceEstimate> own;
  std::vector<double> covariates;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const int group = suite[i].group;
    if (!groups.contains(group)) groups[group] = effects.variance(group);
    VarianceEstimate& left = own.emplace_back();
    add_residuals(0, group, rows[i].first, effects, left);
    add_residuals(1, group, rows[i].second, effects, left);
    if (left.degrees_of_freedom > 0) left.variance /= left.degrees_of_freedom;
    covariates.push_back(suite[i].sides.covariate);
  }
  const std::vector<VarianceEstimate> priors = fit_variance_priors(own, covariates);
  std::vector<CardVariance> result;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    result.push_back({.own = moderate(own[i], priors[i]),
                      .group = groups[suite[i].group],
                      .noise_share = noise_share(rows[i]),
                      .baseline_cards = static_cast<int>(rows[i].first.deviations.size()),
                      .candidate_cards = static_cast<int>(rows[i].second.deviations.size())});
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
