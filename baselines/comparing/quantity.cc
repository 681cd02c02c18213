#include "baselines/comparing/quantity.h"

#include <cmath>

namespace fusegate::baselines {

double p_beyond(Contrast contrast, double direction, const Shift& shift, const Rule& rule) {
  contrast.effect *= direction;
  const double moved = direction > 0 ? shift.slower : shift.faster;
  return p_above(contrast, std::log1p(rule.min_effect) + moved);
}

}  // namespace fusegate::baselines
