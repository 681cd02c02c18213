// What `fusegate explain` prints: a verdict, its figures, kernels of both sides, one conclusion.
#pragma once

#include <string>

#include "baselines/gating/gate.h"
#include "ci/console/terminal.h"

namespace fusegate::ci {

// baseline, candidate: the benchmark in either run, null where it lacks it. rule: the one that the
// verdict was reached by.
std::string explain_text(const baselines::BenchmarkSeries* baseline,
                         const baselines::BenchmarkSeries* candidate,
                         const baselines::Verdict& verdict, const baselines::Rule& rule,
                         const baselines::KernelDiff& diff, const TextStyle& style = {});

}  // namespace fusegate::ci
