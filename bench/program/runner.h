// The invocation through Google Benchmark, whose repetition is one place: its flags, its order, its
// table and its context.
#pragma once

#include <string>
#include <vector>

#include "bench/measuring/invocation.h"

namespace fusegate::bench {

// The plan with what --benchmark_filter lets through alone, for whoever does not measure. flags:
// Google Benchmark's own. Throws InputError for those that it does not know, and where nothing is
// left.
Plan filtered_plan(const Plan& plan, const std::vector<std::string>& flags);

// flags: Google Benchmark's own. Throws InputError for those that it does not know, and for a run
// file that cannot be used.
Outcome run_benchmarks(kernels::Device& device, const Plan& plan, EnvironmentProbe& probe,
                       const InvocationOptions& options, const std::vector<std::string>& flags);

}  // namespace fusegate::bench
