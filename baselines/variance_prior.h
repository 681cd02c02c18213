// What the benchmarks of a suite say together about how noisy each one is. With few invocations a
// benchmark's own variance is a rough guess; the spread of all benchmarks' variances tells how far
// to trust it.
#pragma once

#include <vector>

namespace fusegate {

// A variance and the degrees of freedom it was estimated with.
struct VarianceEstimate {
  double variance = 0;
  double degrees_of_freedom = 0;  // may be infinite
};

// The empirical Bayes prior of variances over many benchmarks: scaled inverse chi-square with
// degrees_of_freedom d0 and scale variance s0^2. G. K. Smyth, "Linear models and empirical Bayes
// methods for assessing differential expression in microarray experiments", Stat. Appl. Genet. Mol.
// Biol. 3 (2004), article 3, section 6.2. Estimates with no degrees of freedom are left out, as are
// zero variances, which have no logarithm. d0 is infinite where the variances differ by no more
// than chance, and 0 (no prior) where fewer than three estimates are left.
VarianceEstimate fit_variance_prior(const std::vector<VarianceEstimate>& estimates);

// The posterior variance, (d0 s0^2 + d s^2) / (d0 + d), with d0 + d degrees of freedom (ibid.).
VarianceEstimate moderate(const VarianceEstimate& own, const VarianceEstimate& prior);

// The y > 0 with trigamma(y) = x, for x > 0, by Newton's method (ibid., appendix).
double trigamma_inverse(double x);

}  // namespace fusegate
