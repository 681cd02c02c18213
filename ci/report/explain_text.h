// What `fusegate explain` prints: a verdict, its figures, kernels of both sides, one conclusion.
#pragma once

#include <string>

#include "baselines/comparing/gate.h"

namespace fusegate {

// baseline, candidate: the benchmark in either run, null where it lacks it.
std::string explain_text(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate,
                         const Verdict& verdict, const KernelStory& story);

}  // namespace fusegate
