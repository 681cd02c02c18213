// Whether a series left its level, night after night: two one-sided cumulative sums of standardised
// effects. E. S. Page, "Continuous inspection schemes", Biometrika 41 (1954), 100-115. Increments
// are clipped, so that one odd night alone is no alarm: compare J. M. Lucas, R. B. Crosier, "Robust
// CUSUM", Commun. Stat. Theory Methods 11 (1982), 2669-2687.
#pragma once

#include <vector>

namespace fusegate::baselines {

struct CusumRule {
  double reference = 1;     // k: what a sum forgets a night, in standard errors
  double threshold = 4.95;  // h: beyond it is an alarm
  double clip = 3.5;        // of one night's standardised effect
};

class Cusum {
 public:
  // A standardised effect: of a series at its level, a normal number of mean 0 and variance 1.
  void add(double standardised, const CusumRule& rule);
  void reset() { *this = {}; }

  double up() const { return up_; }
  double down() const { return down_; }
  // 1: the level rose; -1: it fell; 0: neither is known.
  int alarm(const CusumRule& rule) const;

 private:
  double up_ = 0;
  double down_ = 0;
};

// The normal number with the upper tail of a t of so many degrees of freedom: D. L. Wallace,
// "Bounds on normal approximations to Student's and the chi-square distributions", Ann. Math. Stat.
// 30 (1959), 1121-1130. Up to 3.5 within 0.1, from 3 degrees of freedom on.
double normal_score(double t, double degrees_of_freedom);

}  // namespace fusegate::baselines
