// What `fusegate explain` prints: a verdict, its figures, kernels of both sides, one conclusion.
#pragma once

#include <string>
#include <vector>

#include "ci/console/terminal.h"
#include "ci/gate/gate_facts.h"

namespace fusegate::ci {

// baseline, candidate: the benchmark in either run, null where it lacks it. rule: the one that the
// verdict was reached by.
std::string explain_text(const baselines::BenchmarkSeries* baseline,
                         const baselines::BenchmarkSeries* candidate,
                         const baselines::Verdict& verdict, const baselines::Rule& rule,
                         const baselines::KernelDiff& diff, const TextStyle& style = {});

// The same of what the gate found. verdict: one of facts.
std::string explain_text(const GateFacts& facts, const baselines::Verdict& verdict,
                         const TextStyle& style = {});
// Of one benchmark alone, whether or not the gate shows it.
baselines::KernelDiff kernel_diff_of(const GateFacts& facts, const baselines::Verdict& verdict);

// The run's benchmark of that name; null where it has none.
const baselines::BenchmarkSeries* series_of(const baselines::Run& run, const std::string& name);

// Up to five benchmarks of either run that may be meant, the nearest first.
std::vector<std::string> near_benchmarks(const std::string& wanted, const baselines::Run& baseline,
                                         const baselines::Run& candidate);

}  // namespace fusegate::ci
