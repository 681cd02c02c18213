// The few numbers by which many rows move together: of eight H200s one factor explains 64 % of the
// variance between cards, three 90 % (docs/evidence/other-cards.md).
#pragma once

#include <span>
#include <vector>

namespace fusegate::baselines {

// Loadings: of each factor, what a row moves by where the factor's score is 1.
using Factors = std::vector<std::vector<double>>;

// The leading principal components of observations (each the rows' deviations from their means, all
// of one length; NaN: not known, counted as zero), each of length one. As many as `count`, or fewer
// where there are no more. H. Hotelling, J. Educ. Psychol. 24 (1933), 417-441.
Factors leading_factors(const std::vector<std::vector<double>>& observations, int count);

struct FactorRow {
  double value = 0;
  double variance = 1;
  std::vector<double> loadings{};  // of each factor in this row
};

struct FactorScores {
  std::vector<double> scores{};  // of each factor
  double shift_error = 0;        // standard error of the first
};

// By least squares, in which a row weighs less the further it lies off: as of a t distribution with
// four degrees of freedom (K. L. Lange, R. J. A. Little, J. M. G. Taylor, J. Am. Stat. Assoc. 84
// (1989), 881-896). Starts from the median, taken as the first factor's score, whose loadings are
// all 1. Needs more rows than factors.
FactorScores factor_scores(std::span<const FactorRow> rows);

}  // namespace fusegate::baselines
