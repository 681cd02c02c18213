#include "baselines/statistics/moderated_contrasts.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

// A baseline's times are rounded to five significant digits, which alone moves a time by as much as
// 5e-5 of it, with a standard deviation of 1e-4 / sqrt(12). Invocations that agree better than
// that, down to identical values from a coarse timer, agree by luck and not by a variance of zero.
constexpr double kResolution = 3e-5;

Difference resolved_difference(const TwoSides& sides) {
  Difference difference = difference_of(sides);
  VarianceEstimate& own = difference.variance;
  if (own.degrees_of_freedom > 0) own.variance = std::max(own.variance, kResolution * kResolution);
  return difference;
}

}  // namespace

std::vector<ModeratedContrast> moderated_contrasts(const std::vector<TwoSides>& suite) {
  std::vector<Difference> differences;
  std::vector<VarianceEstimate> own;
  std::vector<double> covariates;
  for (const TwoSides& sides : suite) {
    differences.push_back(resolved_difference(sides));
    own.push_back(differences.back().variance);
    covariates.push_back(sides.covariate);
  }
  const std::vector<VarianceEstimate> priors = fit_variance_priors(own, covariates);
  std::vector<ModeratedContrast> contrasts;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const VarianceEstimate posterior = moderate(own[i], priors[i]);
    contrasts.push_back(
        {{differences[i].effect, std::sqrt(posterior.variance * differences[i].share),
          posterior.degrees_of_freedom},
         posterior});
  }
  return contrasts;
}

}  // namespace fusegate::baselines
