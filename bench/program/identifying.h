// fusegate_bench --identify: finds out what each benchmark launches, and measures nothing. A suite
// takes seconds, so that whoever measures can see first what is worth measuring.
#pragma once

#include <filesystem>

#include "bench/machine/environment_probe.h"
#include "bench/measuring/invocation.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

// Writes baselines/launches/identities.h's file. A benchmark that fails is told there; where
// nothing can be found out, as without CUPTI, each identity says so. Writes nothing where a signal
// came or the device was lost; ends the process where a benchmark does not end. Throws InputError
// where the file cannot be written.
Outcome identify(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
                 const InvocationInfo& info, const std::filesystem::path& out,
                 std::optional<std::chrono::seconds> stuck_after = kStuckAfter);

}  // namespace fusegate::bench
