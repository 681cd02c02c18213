// Draws judged as the gate judges: what is called although nothing changed, and what is found where
// a kernel was slowed on purpose.
#pragma once

#include <vector>

#include "baselines/calibration/calibration.h"

namespace fusegate::baselines {

struct JudgedDraws {
  std::vector<RuleCalibration> rules;
  // By the first rule and within a card, a benchmark in the pool's order: the median over draws of
  // the smallest effect that is found.
  std::vector<double> detectable;
};

// classes: of the pool's benchmarks. Draws are judged on all cores and depend on the seed alone.
JudgedDraws judge_draws(const CalibrationPool& pool, const std::vector<DurationClass>& classes,
                        const std::vector<Rule>& rules, const CalibrationOptions& options);

}  // namespace fusegate::baselines
