// Runs the invocation through Google Benchmark, with its flags, order, table and context. One of
// its repetitions is one place.
#pragma once

#include <string>
#include <vector>

#include "bench/measuring/invocation.h"

namespace fusegate::bench {

// The part of the plan that --benchmark_filter lets through, for callers that do not measure.
// flags: Google Benchmark's own. Throws InputError for those that it does not know, and where they
// leave nothing of a plan that had something.
Plan filtered_plan(const Plan& plan, const std::vector<std::string>& flags);

// flags: Google Benchmark's own. Throws InputError for those that it does not know, and for a run
// file that cannot be used.
Outcome run_benchmarks(kernels::Device& device, const Plan& plan, EnvironmentProbe& probe,
                       const InvocationOptions& options, const std::vector<std::string>& flags);

}  // namespace fusegate::bench
