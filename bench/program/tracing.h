// fusegate_bench --trace: records a trace of a few calls of every benchmark, without measuring.
// Each benchmark is checked against the reference first: a wrong kernel is never traced.
#pragma once

#include <filesystem>

#include "bench/machine/environment_probe.h"
#include "bench/measuring/measuring_process.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

// Checks all, traces all, then writes what did not fail. Writes nothing where all failed, after a
// signal or where the device was lost. Throws ProfilerError where nothing can be recorded here, and
// InputError where the file cannot be written.
Outcome record_trace(kernels::Device& device, Meter& meter, const Plan& plan,
                     EnvironmentProbe& probe, const ProcessInfo& info,
                     const std::filesystem::path& out);

}  // namespace fusegate::bench
