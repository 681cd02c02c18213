// What judge_nights() may be asked to do otherwise.
#pragma once

#include "baselines/changes/cusum.h"

namespace fusegate::baselines {

struct JudgeNightsOptions {
  // At most one false alarm in 100 nights over 344 benchmarks: docs/evidence/change-points.md.
  CusumRule benchmarks{};
  CusumRule families{};
  // A benchmark that is known less well is undecided.
  double largest_standard_error = 0.01;
};

}  // namespace fusegate::baselines
