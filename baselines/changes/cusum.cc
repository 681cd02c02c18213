#include "baselines/changes/cusum.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {

void Cusum::add(double standardised, const CusumRule& rule) {
  const double clipped = std::clamp(standardised, -rule.clip, rule.clip);
  up_ = std::max(0.0, up_ + clipped - rule.reference);
  down_ = std::max(0.0, down_ - clipped - rule.reference);
}

int Cusum::alarm(const CusumRule& rule) const {
  if (std::max(up_, down_) <= rule.threshold) return 0;
  return up_ > down_ ? 1 : -1;
}

double normal_score(double t, double degrees_of_freedom) {
  if (std::isinf(degrees_of_freedom)) return t;
  const double n = degrees_of_freedom;
  return std::copysign((8 * n + 1) / (8 * n + 3) * std::sqrt(n * std::log1p(t * t / n)), t);
}

}  // namespace fusegate::baselines
