// What the benchmarks of a family say together, and how each looks in the light of the others:
// partial pooling by the random effects model. A benchmark's true effect lies off the family's by a
// normal deviation with variance tau^2, and its estimate off that by its own standard error.
// R. DerSimonian, N. Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials 7
// (1986), 177-188.
#pragma once

#include <vector>

namespace fusegate::baselines {

// Of a logarithm, and as sure as a normal distribution with that standard error.
struct Estimate {
  double effect = 0;
  double standard_error = 0;
};

struct PooledEffects {
  Estimate mean;
  double tau_squared = 0;  // how far true effects differ
  // I^2, the share of the estimates' scatter that noise does not explain, from 0 to 1.
  // J. P. T. Higgins, S. G. Thompson, "Quantifying heterogeneity in a meta-analysis", Statistics in
  // Medicine 21 (2002), 1539-1558.
  double heterogeneity = 0;
  std::vector<double> weights;  // in the mean; they sum to one
  // Each estimate drawn towards the mean, the more the noisier it is beside tau: its empirical
  // Bayes posterior mean. C. N. Morris, "Parametric empirical Bayes inference: theory and
  // applications", J. Am. Stat. Assoc. 78 (1983), 47-55.
  std::vector<double> shrunken;
};

// rows: at least one, all finite, with standard errors above zero. tau^2 is where the weighted
// squares about the mean come to their expectation, the number of rows less one: R. C. Paule,
// J. Mandel, "Consensus values and weighting factors", J. Res. Natl. Bur. Stand. 87 (1982),
// 377-385.
PooledEffects pool_effects(const std::vector<Estimate>& rows);

}  // namespace fusegate::baselines
