// One benchmark's values on both sides, and the difference between the sides with what it alone
// shows of its noise.
#pragma once

#include <map>
#include <vector>

#include "baselines/statistics/variance_prior.h"

namespace fusegate::baselines {

// Logarithms of one quantity, a value a process; not empty.
struct SideValues {
  std::vector<double> values;
  std::vector<int> blocks{};  // of each value, where both sides were measured side by side
  std::vector<int> cards{};   // of each value, where a side has several; passed over beside blocks
};

struct TwoSides {
  SideValues baseline{};
  SideValues candidate{};
  double covariate = 0;  // what the noise may depend on: the logarithm of the duration
};

struct Difference {
  double effect = 0;  // candidate less baseline
  // Of one value about the mean of its side, or of its card; about its block's where paired.
  VarianceEstimate variance;
  double share = 0;  // the variance of effect is share x variance, but for what cards add
};

// A side's values card by card, under the cards' numbers; all under 0 where it has no cards.
std::map<int, std::vector<double>> by_card(const SideValues& side);

// Of each card's mean from the mean of all cards', by the cards' numbers.
std::vector<double> card_deviations(const SideValues& side);

// Where both sides have blocks, and at least two in common: least squares in the two-way layout of
// sides and blocks, in which a block's own shift falls out. R. A. Fisher, "The design of
// experiments" (1935), chapter 4; for unequal numbers in a block, H. Scheffe, "The analysis of
// variance" (1959), section 4.4. Else the difference of the means; where a side has several cards,
// of the means of its cards' means.
Difference difference_of(const TwoSides& sides);

}  // namespace fusegate::baselines
