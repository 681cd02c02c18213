#include "baselines/moderated_contrasts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace fusegate {
namespace {

// A baseline's times are rounded to five significant digits, which alone moves a time by as much as
// 5e-5 of it, with a standard deviation of 1e-4 / sqrt(12). Invocations that agree better than
// that, down to identical values from a coarse timer, agree by luck and not by a variance of zero.
constexpr double kResolution = 3e-5;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

VarianceEstimate own_variance(const TwoSides& sides) {
  VarianceEstimate own = pooled_variance({sides.baseline, sides.candidate});
  if (own.degrees_of_freedom > 0) own.variance = std::max(own.variance, kResolution * kResolution);
  return own;
}

}  // namespace

std::vector<Contrast> moderated_contrasts(const std::vector<TwoSides>& suite) {
  std::vector<VarianceEstimate> own;
  std::ranges::transform(suite, std::back_inserter(own), own_variance);
  const VarianceEstimate prior = fit_variance_prior(own);
  // What a variance is known by is never more than all that was measured, even where the fit finds
  // no dispersion and calls the prior certain. limma's eBayes() has the same bound.
  double measured = 0;
  for (const VarianceEstimate& estimate : own) measured += estimate.degrees_of_freedom;

  std::vector<Contrast> contrasts;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const auto& [baseline, candidate] = suite[i];
    const VarianceEstimate posterior = moderate(own[i], prior);
    const double share =
        1.0 / static_cast<double>(baseline.size()) + 1.0 / static_cast<double>(candidate.size());
    contrasts.push_back({mean(candidate) - mean(baseline), std::sqrt(posterior.variance * share),
                         std::min(posterior.degrees_of_freedom, measured)});
  }
  return contrasts;
}

}  // namespace fusegate
