// The statistics between invocations. All effects and variances are of logarithms of times, so that
// they are relative and add up; effects are turned into ratios only for people.
#pragma once

#include <span>
#include <vector>

namespace fusegate {

double median(std::vector<double> values);
// Median absolute deviation from the median, not scaled.
double median_absolute_deviation(const std::vector<double>& values);

// A variance and the degrees of freedom it was estimated with.
struct VarianceEstimate {
  double variance = 0;
  double degrees_of_freedom = 0;  // may be infinite
};

// Within-group variance of several groups taken together: sum of squares over sum of (n - 1).
VarianceEstimate pooled_variance(const std::vector<std::span<const double>>& groups);

// The empirical Bayes prior of variances over many benchmarks: scaled inverse chi-square with
// degrees_of_freedom d0 and scale variance s0^2. G. K. Smyth, "Linear models and empirical Bayes
// methods for assessing differential expression in microarray experiments", Stat. Appl. Genet. Mol.
// Biol. 3 (2004), article 3, section 6.2. Estimates with no degrees of freedom are left out.
VarianceEstimate fit_variance_prior(const std::vector<VarianceEstimate>& estimates);

// The posterior variance, (d0 s0^2 + d s^2) / (d0 + d), with d0 + d degrees of freedom (ibid.).
VarianceEstimate moderate(const VarianceEstimate& own, const VarianceEstimate& prior);

// A mean difference with its standard error.
struct Contrast {
  double effect = 0;
  double standard_error = 0;
  double degrees_of_freedom = 0;
};

// p of the hypothesis effect <= threshold, one-sided, against effect > threshold (threshold >= 0).
// D. J. McCarthy, G. K. Smyth, "Testing significance relative to a fold-change threshold is a TREAT",
// Bioinformatics 25 (2009), 765-771.
double p_above(const Contrast& contrast, double threshold);

struct Interval {
  double low = 0;
  double high = 0;
};
// The central interval of the given confidence, such as 0.95.
Interval confidence_interval(const Contrast& contrast, double confidence);

// Adjusted p values in the input's order. Y. Benjamini, Y. Hochberg, "Controlling the false discovery
// rate", J. R. Stat. Soc. B 57 (1995), 289-300.
std::vector<double> benjamini_hochberg(const std::vector<double>& p);

}  // namespace fusegate
