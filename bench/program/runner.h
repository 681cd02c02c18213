// Measures through Google Benchmark, with its flags, order, table and context. One repetition is
// one memory layout.
#pragma once

#include <string>
#include <vector>

#include "bench/measuring/measuring_process.h"

namespace fusegate::bench {

// The part of the plan that --benchmark_filter matches, for callers that do not measure. flags:
// Google Benchmark's. Throws InputError for unknown ones, and where the filter matches nothing.
Plan filtered_plan(const Plan& plan, const std::vector<std::string>& flags);

// flags: Google Benchmark's. Throws InputError for unknown ones, and for a run file that cannot be
// used.
Outcome run_benchmarks(kernels::Device& device, const Plan& plan, EnvironmentProbe& probe,
                       const ProcessOptions& options, const std::vector<std::string>& flags);

}  // namespace fusegate::bench
