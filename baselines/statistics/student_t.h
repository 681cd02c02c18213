// Student's t distribution: exactly, and as fast as sums over thousands of benchmarks want it.
#pragma once

namespace fusegate::baselines {

// P(T > t); the normal distribution where degrees_of_freedom is infinite.
double t_upper_tail(double t, double degrees_of_freedom);

// The t with P(T > t) = p.
double t_upper_quantile(double p, double degrees_of_freedom);

// P(T > t) to 3 % of itself, from a table: degrees of freedom are rounded to steps of 1 %, and the
// logarithm of the probability is interpolated.
double t_upper_tail_by_table(double t, double degrees_of_freedom);

}  // namespace fusegate::baselines
