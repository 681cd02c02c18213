// How far one kind of figure scatters from night to night where nothing changed: learnt from the
// nights themselves, benchmark by benchmark, and drawn towards what the suite shows together
// (variance_prior.h).
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

class NightNoise {
 public:
  // What was left of a night of identical code, and its variance in units of of().variance: one
  // night's, and what its level is uncertain by. Far ones count as 3.5 standard errors.
  void add(std::size_t benchmark, double innovation, double relative_variance);
  // Of one process, by the spread of the night's; and how many there were.
  void add_processes(std::size_t benchmark, double variance, int processes);
  // Anew from all that was added. covariates: one a benchmark, such as the logarithm of its time.
  // Each benchmark gets `most` degrees of freedom at most.
  void estimate(const std::vector<double>& covariates, double most);

  // Before estimate(): 1 with no degrees of freedom.
  VarianceEstimate of(std::size_t benchmark) const;
  // A night of so many processes has this times as much.
  double share_of(std::size_t benchmark, int processes) const;
  // The normal number as unlikely as an innovation of this variance. What innovations of the whole
  // suite are distributed like counts: the scaled t of which as many lie beyond one standard error
  // and beyond three; and so do degrees of freedom.
  double score(std::size_t benchmark, double innovation, double variance) const;

 private:
  struct Sum {
    double squares = 0;
    double count = 0;
    double process_variances = 0, process_shares = 0, process_nights = 0;
  };
  void fit_tails();
  void forget();

  std::vector<Sum> sums_;
  std::vector<VarianceEstimate> variances_;
  // Of innovations in standard errors: all, and those beyond one and beyond three.
  double innovations_ = 0, beyond_one_ = 0, beyond_three_ = 0;
  ScaledT shape_{1, std::numeric_limits<double>::infinity()};
};

}  // namespace fusegate::baselines
