// How far a machine moves single benchmarks otherwise than others of their kind: from session to
// session, or from card to card. Scale and tails are estimated together, since what a machine does
// has heavier tails than noise has: of eight H200s one took 2.5 % longer for a few benchmarks whose
// like spread by 0.2 %. What few values leave open is averaged over: the posterior predictive
// distribution. A. Gelman et al., "Bayesian data analysis", 3rd ed. (2013), sections 5.3 and 17.2;
// the t model: K. L. Lange, R. J. A. Little, J. M. G. Taylor, "Robust statistical modeling using
// the t distribution", J. Am. Stat. Assoc. 84 (1989), 881-896.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

// A logarithm about its group's location, and the standard error of it.
struct Residual {
  double value = 0;
  double standard_error = 0;
  int group = 0;
};

// The smallest probability that matters in so many tests.
double smallest_relevant(std::size_t tests);

class Scatter {
 public:
  // Groups have a scale each, drawn from a common distribution, and the same tails. The prior is
  // even over the logarithm of the scale, from 0.001 to 2 %, and over tails from those of t with
  // one and a half degrees of freedom to normal ones: without residuals, next to anything may be.
  //
  // tail: the smallest probability that will be asked for, such as 1e-4.
  Scatter(const std::vector<Residual>& residuals, double tail);

  // Of one more benchmark of the group. A scaled t that has the predictive distribution's quantiles
  // at 2.5 % and at `tail`.
  ScaledT of(int group) const;

 private:
  std::map<int, ScaledT> groups_;
  ScaledT other_;  // of a group without residuals
};

}  // namespace fusegate::baselines
