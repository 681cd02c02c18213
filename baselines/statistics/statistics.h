// The statistics between processes. All effects and variances are of logarithms of times, so that
// they are relative and add up; effects are turned into ratios only for people.
#pragma once

#include <span>
#include <vector>

namespace fusegate::baselines {

// NaN where there are no values.
double mean(std::span<const double> values);
double median(std::vector<double> values);
// The p-quantile by linear interpolation between order statistics, definition 7 of R. J. Hyndman,
// Y. Fan, "Sample quantiles in statistical packages", Am. Stat. 50 (1996), 361-365. NaN of none.
double quantile(std::vector<double> values, double p);
// The mean of the samples between the 5 % and the 50 % quantile, the fast half, with fractional
// weights at both ends: an L-estimator (P. J. Huber, "Robust statistics" (1981), section 3.3). NaN
// where there are no values.
//
// What disturbs a kernel only ever adds time, and so the fast end of the samples repeats from
// process to process; the very fastest are left out, as a clock that was read wrongly makes cycles
// too few. Over 40 processes of `pr` on four H200 (48 numbered layouts each;
// docs/evidence/protocol.md) the standard deviation between processes in time at equal clock, in
// the root mean square over kernels of 20 us and more, was 0.054 %, the largest 0.14 %; of the mean
// between the 5 and 35 % quantiles 0.059 and 0.16 %, 5 and 65 % 0.051 and 0.12 %. Where the driver
// lays memory out, samples fall into clusters and less is better: 0.141 % up to 50 %, 0.125 up to
// 35, 0.165 up to 65, 0.24 for the median (40 processes of before).
double fast_half(const std::vector<double>& values);
// Median absolute deviation from the median, not scaled.
double median_absolute_deviation(const std::vector<double>& values);

// A variance and the degrees of freedom it was estimated with.
struct VarianceEstimate {
  double variance = 0;
  double degrees_of_freedom = 0;  // may be infinite
};

// Within-group variance of several groups taken together: sum of squares over sum of (n - 1).
// No degrees of freedom where no group has two values.
VarianceEstimate pooled_variance(const std::vector<std::span<const double>>& groups);

// Student's t times a scale; no scale: always zero.
struct ScaledT {
  double scale = 0;
  double degrees_of_freedom = 1;
};

// A mean difference with its errors: that of the means, and what the machine does to a single
// benchmark otherwise than to others (scatter.h). Their sum is what tests, intervals and bounds go
// by.
struct Contrast {
  double effect = 0;
  double standard_error = 0;
  double degrees_of_freedom = 0;
  ScaledT scatter{};
};

// A further source of error: the degrees of freedom after F. E. Satterthwaite, "An approximate
// distribution of estimates of variance components", Biometrics Bull. 2 (1946), 110-114. Leaves a
// contrast without degrees of freedom as it is.
void add_variance(const VarianceEstimate& more, Contrast& contrast);

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

// What it exceeds with probability p, 0 < p < 0.5.
double upper_quantile(const ScaledT& t, double p);

// The error that is exceeded with probability p, 0 < p < 0.5. Infinite without degrees of freedom.
double error_quantile(const Contrast& contrast, double p);

// The largest effect that the data allow, one-sided: more has a probability of `level`. Infinite
// without degrees of freedom.
double upper_bound(const Contrast& contrast, double level);

// Of a rate that was counted, with so much probability beyond either end; [0, 1] of no trials. C.
// J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of
// the binomial", Biometrika 26 (1934), 404-413.
Interval binomial_interval(int successes, int trials, double tail);

// Of `marked` among own + other draws, so many or more among the own ones: P(X >= seen), X
// hypergeometric.
double hypergeometric_upper_tail(int seen, int own, int other, int marked);

// The true effect, in standard errors beyond the threshold, that p_above() finds at `level` with
// probability `power`: the noncentrality d for which P(T' > t) = power, T' being noncentral t with
// that d and t the upper quantile of Student's t at `level`. J. Cohen, "Statistical power analysis
// for the behavioral sciences", 2nd ed. (1988), section 12.8. Infinite without degrees of freedom.
double detectable_noncentrality(double degrees_of_freedom, double level, double power);

// Adjusted p values in the input's order. Y. Benjamini, Y. Hochberg, "Controlling the false
// discovery rate", J. R. Stat. Soc. B 57 (1995), 289-300.
std::vector<double> benjamini_hochberg(const std::vector<double>& p);

}  // namespace fusegate::baselines
