// Why a verdict is what it is, in one sentence for people.
#pragma once

#include <string>

#include "baselines/comparing/comparison.h"
#include "baselines/comparing/verdict.h"

namespace fusegate::baselines {

// For a benchmark that both runs measured; the verdict's kind, effects and interval are set.
std::string reason_of(const Comparison& comparison, const Circumstances& circumstances,
                      const Verdict& verdict, const Rule& rule);

// For one that failed, or that a run lacks (null).
std::string reason_without_comparison(const BenchmarkSeries* baseline,
                                      const BenchmarkSeries* candidate);

}  // namespace fusegate::baselines
