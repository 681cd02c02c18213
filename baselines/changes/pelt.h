// Where the level of a series changed, seen from its end. R. Killick, P. Fearnhead, I. A. Eckley,
// "Optimal detection of changepoints with a linear computational cost", J. Am. Stat. Assoc. 107
// (2012), 1590-1598: exact, and linear where changes keep coming.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fusegate::baselines {

// A normal value whose variance is known and above zero.
struct KnownNormal {
  double value = 0;
  double variance = 1;
};

// Of the mean with weights of inverse variances.
KnownNormal weighted_mean(std::span<const KnownNormal> values);

// Twice the negative log likelihood of one level, but for a constant.
double cost_of_one_level(std::span<const KnownNormal> values);

// The first elements of all segments but the first, ascending. They minimise the sum of
// cost_of_one_level() over the segments and of the penalty a change; no segment is shorter than
// `shortest`, and there is none in fewer than 2 x shortest values.
std::vector<std::size_t> pelt(std::span<const KnownNormal> values, double penalty,
                              std::size_t shortest = 1);

}  // namespace fusegate::baselines
