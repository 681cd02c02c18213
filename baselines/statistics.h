// The statistics between invocations. All effects and variances are of logarithms of times, so that
// they are relative and add up; effects are turned into ratios only for people.
#pragma once

#include <span>
#include <vector>

#include "baselines/variance_prior.h"

namespace fusegate {

// NaN where there are no values.
double median(std::vector<double> values);
// The interquartile mean: the mean of the middle half, with fractional weights where a quarter of
// the values is no whole number. J. W. Tukey's midmean, in D. F. Andrews et al., "Robust estimates
// of location" (1972), chapter 2. NaN where there are no values.
//
// It stands up to a quarter of outliers like a median to half of them, but does not jump where the
// samples fall into two heaps, as those of kernels near the L2's size do (one heap a place in
// memory). Over the 56 benchmarks of `pr` on an H200 the between-process standard deviation of the
// midmean was lower than the median's in the root mean square (0.19 against 0.22 %, and 0.21 against
// 0.23 % on a second card).
double midmean(std::vector<double> values);
// Median absolute deviation from the median, not scaled.
double median_absolute_deviation(const std::vector<double>& values);

// Within-group variance of several groups taken together: sum of squares over sum of (n - 1).
// No degrees of freedom where no group has two values.
VarianceEstimate pooled_variance(const std::vector<std::span<const double>>& groups);

// A mean difference with its standard error.
struct Contrast {
  double effect = 0;
  double standard_error = 0;
  double degrees_of_freedom = 0;
};

// Without degrees of freedom nothing can be said: p is 1, and the interval is infinite.
//
// p of the hypothesis effect <= threshold, one-sided, against effect > threshold (threshold >= 0).
// D. J. McCarthy, G. K. Smyth, "Testing significance relative to a fold-change threshold is a
// TREAT", Bioinformatics 25 (2009), 765-771.
double p_above(const Contrast& contrast, double threshold);

struct Interval {
  double low = 0;
  double high = 0;
};
// The central interval of the given confidence, such as 0.95.
Interval confidence_interval(const Contrast& contrast, double confidence);

// The true effect, in standard errors beyond the threshold, that p_above() finds at `level` with
// probability `power`: the noncentrality d for which P(T' > t) = power, T' being noncentral t with
// that d and t the upper quantile of Student's t at `level`. J. Cohen, "Statistical power analysis
// for the behavioral sciences", 2nd ed. (1988), section 12.8. Infinite without degrees of freedom.
double detectable_noncentrality(double degrees_of_freedom, double level, double power);

// Adjusted p values in the input's order. Y. Benjamini, Y. Hochberg, "Controlling the false
// discovery rate", J. R. Stat. Soc. B 57 (1995), 289-300.
std::vector<double> benjamini_hochberg(const std::vector<double>& p);

}  // namespace fusegate
