// What the benchmarks of a suite say together about how noisy each one is. With few processes a
// benchmark's own variance is a rough guess; the spread of all benchmarks' variances shows how far
// to trust it.
#pragma once

#include <vector>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

// The logarithm of an estimate, whose mean over chance is the logarithm of the true variance, and
// its own variance by chance; with degrees of freedom above zero (Smyth 2004, section 6.2).
struct LogVariance {
  double value = 0;
  double variance = 0;
};
LogVariance log_variance(const VarianceEstimate& estimate);

// The empirical Bayes priors of variances over many benchmarks, one for each: scaled inverse
// chi-square with degrees_of_freedom d0 and scale variance s0^2, which follows a smooth trend over
// the covariate. G. K. Smyth, "Linear models and empirical Bayes methods for
// assessing differential expression in microarray experiments", Stat. Appl. Genet. Mol. Biol. 3
// (2004), article 3, section 6.2. The trend: M. A. Sartor et al., "Intensity-based hierarchical
// Bayes method improves testing for differentially expressed genes in microarray experiments", BMC
// Bioinformatics 7 (2006), 538; here on a regression spline, as limma has it.
//
// covariates: one for each estimate, such as the logarithm of the duration: short kernels are
// noisier. With fewer than six estimates there is no trend. Estimates with no degrees of freedom
// are left out of the fit, as are zero variances, which have no logarithm; they get a prior like
// the others. d0 is smaller where few estimates hold the trend: what the trend itself is uncertain
// by, its leverage times the dispersion of log s^2, adds to the dispersion trigamma(d0/2) about it.
// So a prior knows no more than was measured, even where the variances differ from the trend by no
// more than chance. d0 is 0 (no prior) where fewer than three estimates are left.
std::vector<VarianceEstimate> fit_variance_priors(const std::vector<VarianceEstimate>& estimates,
                                                  const std::vector<double>& covariates);

// The posterior variance, (d0 s0^2 + d s^2) / (d0 + d), with d0 + d degrees of freedom (ibid.).
VarianceEstimate moderate(const VarianceEstimate& own, const VarianceEstimate& prior);

// The posterior variances under the priors that they show together.
std::vector<VarianceEstimate> moderate_together(const std::vector<VarianceEstimate>& estimates,
                                                const std::vector<double>& covariates);

// The y > 0 with trigamma(y) = x, for x > 0, by Newton's method (ibid., appendix).
double trigamma_inverse(double x);

}  // namespace fusegate::baselines
