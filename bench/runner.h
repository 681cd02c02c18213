// The invocation: every planned benchmark through Google Benchmark, each result in the run file
// before the next one starts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/environment_probe.h"
#include "bench/plan.h"
#include "bench/recorder.h"

namespace fusegate {

struct RunnerOptions {
  InvocationInfo info;
  std::optional<std::filesystem::path> out;
  bool progress = false;
  bool resume = false;
  std::vector<std::string> benchmark_flags;
};

enum class Outcome {
  kComplete,     // every benchmark was measured
  kFailures,     // some failed, and the run file says which
  kInterrupted,  // Ctrl-C or a termination signal; what was measured is kept
  kDeviceLost,   // a kernel broke the device's context: the rest needs a fresh process
};

// Throws InputError for Google Benchmark flags it does not know and for an unusable run file.
Outcome run_benchmarks(Device& device, const Plan& plan, EnvironmentProbe& probe,
                       const RunnerOptions& options);

}  // namespace fusegate
