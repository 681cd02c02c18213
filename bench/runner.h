// The invocation through Google Benchmark, whose repetition is one place: its flags, its order, its
// table and its context.
#pragma once

#include <string>
#include <vector>

#include "bench/invocation.h"

namespace fusegate {

// flags: Google Benchmark's own. Throws InputError for those that it does not know, and for a run
// file that cannot be used.
Outcome run_benchmarks(Device& device, const Plan& plan, EnvironmentProbe& probe,
                       const InvocationOptions& options, const std::vector<std::string>& flags);

}  // namespace fusegate
