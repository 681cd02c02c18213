// The decision rule: an ordered list of named checks (decision.cc), of which the first that applies
// gives the verdict.
#pragma once

#include "baselines/comparing/comparison.h"
#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"

namespace fusegate::baselines {

// What a benchmark is decided by.
struct Evidence {
  const Comparison& comparison;
  const Circumstances& circumstances;
  const Rule& rule;
  Interval logarithms;  // of the effect; NaN where it cannot be had
  Interval interval;    // the same as ratios, minus one
};

struct Decision {
  VerdictKind kind = VerdictKind::kInconclusive;
  Obstacle obstacle = Obstacle::kNone;  // of an inconclusive one
};

Decision decide(const Evidence& evidence);

// Whether more of the candidate's processes lie in the slower of two clusters, for certain.
bool takes_slower_mode(const Evidence& evidence);

// Whether time differs for certain, but by the clock; not where time decides.
bool clock_moved(const Evidence& evidence);

}  // namespace fusegate::baselines
