// How far cards of one model differ, as the cards of the two sides themselves show. The logarithm
// of a time is modelled as benchmark + card within its group + card x benchmark + process, all but
// the first at random: S. R. Searle, G. Casella, C. E. McCulloch, "Variance components" (1992),
// chapter 3.
#pragma once

#include <vector>

#include "baselines/statistics/statistics.h"
#include "baselines/statistics/two_sides.h"

namespace fusegate::baselines {

// One benchmark, in one quantity.
struct CardRow {
  TwoSides sides;
  int group = 0;  // of rows that a card moves together
};

// Of one card's mean about the mean of all cards.
struct CardVariance {
  VarianceEstimate own;    // card x benchmark, and the noise of a card's processes
  VarianceEstimate group;  // what a card does to all rows of the group
  double noise_share = 0;  // of the process variance, in own already: the mean of 1/n
  int baseline_cards = 1;
  int candidate_cards = 1;

  // Whether a side has two cards or more, and enough rows.
  bool is_known() const { return own.degrees_of_freedom > 0 && group.degrees_of_freedom > 0; }
  // In units of one card's variance, that of the difference of the two sides' means.
  double share() const { return 1.0 / baseline_cards + 1.0 / candidate_cards; }
  // What the row's own adds to an effect.
  VarianceEstimate of_effect() const { return {own.variance * share(), own.degrees_of_freedom}; }
};

// In the input's order. What a card does to a whole group has as many degrees of freedom as there
// are cards, however many rows show it, and is taken out of the rows first. What is left is
// moderated over the suite, along the covariate (variance_prior.h).
std::vector<CardVariance> card_variances(const std::vector<CardRow>& suite);

// To a contrast of processes alone, in place of the process noise that the cards' variance holds.
// Leaves a contrast without degrees of freedom as it is. Others end with as many as there are
// cards, less one a side: cards come in kinds, and many rows that agree on few cards do not show
// it. Of six H200s one took 2.5 % longer for an MLP of one row, by which the other five spread by
// 0.2 % (docs/evidence/other-cards.md).
void add_cards(const CardVariance& cards, const VarianceEstimate& process, Contrast& contrast);

}  // namespace fusegate::baselines
