#include "baselines/statistics/moderated_contrasts.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

// A baseline's times are rounded to five significant digits, which alone moves a time by as much as
// 5e-5 of it, with a standard deviation of 1e-4 / sqrt(12). Processes that agree better than
// that, down to identical values from a coarse timer, agree by luck and not by a variance of zero.
constexpr double kResolution = 3e-5;

Difference resolved_difference(const TwoSides& sides) {
  Difference difference = difference_of(sides);
  VarianceEstimate& own = difference.variance;
  if (own.degrees_of_freedom > 0) own.variance = std::max(own.variance, kResolution * kResolution);
  return difference;
}

// The variance that lies between blocks and not within them, of one value.
VarianceEstimate between_blocks(const Difference& paired, const Difference& unpaired) {
  const VarianceEstimate& within = paired.variance;
  const VarianceEstimate& all = unpaired.variance;
  const double degrees_of_freedom = all.degrees_of_freedom - within.degrees_of_freedom;
  const double squares =
      all.variance * all.degrees_of_freedom - within.variance * within.degrees_of_freedom;
  return {std::max(squares / degrees_of_freedom, kResolution * kResolution), degrees_of_freedom};
}

// Whether blocks may move the suite's values by as much as pairing is worth. Pairing takes a degree
// of freedom for each block: of two values in each of five, where the blocks' own variance is a
// quarter of that within them, four degrees of freedom more find as much as pairing does. All
// benchmarks say together whether it is, by the ratio of the mean squares; where they are too few to
// rule it out, it may be. No test of a benchmark by its own ratio, which would take the smaller of
// its two variances: a benchmark that blocks do move then has a larger error than it need have.
bool blocks_may_matter(const std::vector<Difference>& paired,
                       const std::vector<Difference>& unpaired) {
  constexpr double kWorth = 0.25;  // of the blocks' variance, in units of that within them
  constexpr double kErrors = 1.645;  // one-sided, 5 %
  double sum = 0;
  double variance = 0;
  double count = 0;
  for (std::size_t i = 0; i < paired.size(); ++i) {
    const VarianceEstimate& within = paired[i].variance;
    const VarianceEstimate between = between_blocks(paired[i], unpaired[i]);
    if (!(within.degrees_of_freedom > 0) || !(between.degrees_of_freedom > 0)) continue;
    const LogVariance log_between = log_variance(between);
    const LogVariance log_within = log_variance(within);
    sum += log_between.value - log_within.value;
    variance += log_between.variance + log_within.variance;
    ++count;
  }
  return count == 0 || sum + kErrors * std::sqrt(variance) > count * std::log1p(2 * kWorth);
}

std::vector<Difference> differences_of(const std::vector<TwoSides>& suite) {
  std::vector<Difference> paired, unpaired;
  for (TwoSides sides : suite) {
    paired.push_back(resolved_difference(sides));
    sides.baseline.blocks = sides.candidate.blocks = {};
    unpaired.push_back(resolved_difference(sides));
  }
  return blocks_may_matter(paired, unpaired) ? paired : unpaired;
}

}  // namespace

std::vector<ModeratedContrast> moderated_contrasts(const std::vector<TwoSides>& suite) {
  const std::vector<Difference> differences = differences_of(suite);
  std::vector<VarianceEstimate> own;
  std::vector<double> covariates;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    own.push_back(differences[i].variance);
    covariates.push_back(suite[i].covariate);
  }
  const std::vector<VarianceEstimate> moderated = moderate_together(own, covariates);
  std::vector<ModeratedContrast> contrasts;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const auto& [variance, degrees_of_freedom] = moderated[i];
    contrasts.push_back(
        {{differences[i].effect, std::sqrt(variance * differences[i].share), degrees_of_freedom},
         moderated[i]});
  }
  return contrasts;
}

}  // namespace fusegate::baselines
