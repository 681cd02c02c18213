// What is known of a new card from its own benchmarks of identical code. Cards of one model differ
// by few numbers: of the eight H200s of testdata/h200-cards one factor explains 64 % of the
// variance between cards, three 90 %. So the stored cards' deviations from their mean span what a
// new card may do, and its identical code shows its scores.
#pragma once

#include <vector>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

struct CardFactorRow {
  // Of each stored card's mean from the mean of the cards, in the cards' order; empty where a card
  // lacks the row.
  std::vector<double> deviations;
  Contrast contrast;          // the new card's mean less the stored cards'
  bool is_identical = false;  // the code is; so that the contrast is the card's
  VarianceEstimate noise{};   // of a stored card's mean, by its processes
};

struct CardPrediction {
  double shift = 0;          // by which the new card moves the row
  VarianceEstimate error{};  // what identical code does not determine of it, and the stored noise
};

// In the input's order. The new card's deviations are a combination of the stored cards', with
// weights that are drawn like theirs: a normal prior, whose posterior mean is a ridge regression
// (best linear unbiased prediction: G. K. Robinson, Stat. Sci. 6 (1991), 15-32). Rows of identical
// code weigh less the further they lie off, as a t distribution with four degrees of freedom has
// it. A row of identical code is predicted by the others alone. Nothing is predicted by fewer than
// two stored cards.
std::vector<CardPrediction> predict_card(const std::vector<CardFactorRow>& rows);

}  // namespace fusegate::baselines
