// fusegate_bench --identify: records what each benchmark launches, without measuring. It takes
// seconds a suite, so that `fusegate run` can leave out benchmarks with identical code.
#pragma once

#include <filesystem>

#include "bench/machine/environment_probe.h"
#include "bench/measuring/measuring_process.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

// Writes a file of identities (baselines/launches/identities.h), with the benchmarks that fail.
// Without CUPTI each identity is unknown, with the reason. Writes nothing after a signal or where
// the device was lost; ends the process where a benchmark does not end. Throws InputError where the
// file cannot be written.
Outcome identify(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
                 const ProcessInfo& info, const std::filesystem::path& out,
                 std::optional<std::chrono::seconds> stuck_after = kStuckAfter);

}  // namespace fusegate::bench
