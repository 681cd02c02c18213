// Every reason to trust a measurement less. The benchmark program records warnings in the run file;
// the verdict and the report show them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

enum class Warning {
  kNvmlMissing,      // no NVML: limits, other processes and throttling are unknown
  kClockUnread,      // no SM clock for some sample: cycles cannot confirm a verdict
  kThrottled,        // the driver reported thermal or hardware slowdown during the run
  kOtherGpuProcess,  // another process held the GPU during the run
  kGpuLost,          // NVML lost the GPU in between, or its counters began anew
  kXid,              // the driver reported an error of the GPU, ours or the card's own
  kEccErrors,        // memory errors were counted during the run, corrected ones too
  kLimitsChanged,    // power limit, clocks, ECC, MIG or driver: not what they were at the start
  kMigSlice,         // a part of a GPU, whose other parts share power, clocks and temperature
  kUnlockedClocks,   // clocks follow load and power; time alone is not steady
  kShortBatch,       // a batch stayed under the protocol's length
  kNotCapturable,    // a call that no CUDA graph can hold was timed by events, host work included
  kUnsteady,         // samples within the process spread by more than the protocol allows
  kDirtyTree,        // the measured commit had uncommitted changes
  kBusyHost,  // on the CPU: other work ran on the samples' core for more than 3 % of their time
  kProfilerMissing,  // no CUPTI here or in the build: what ran was not recorded
  kProfilerRefused,  // CUPTI may not be used here
  kProfilerTaken,    // another profiler was attached
  kProfileFailed,    // CUPTI failed or lost records
  kDebugLibrary,     // Google Benchmark or fusegate itself was built without optimisation
  kLoadedHost,       // Google Benchmark counted more threads that run than the host has CPUs
  kMixedChoices,     // processes chose other kernels: their times are of several
  kMeansOnly,        // another tool's file has no samples: a process's one figure is their mean
};

// Stable names for JSON, such as "throttled".
std::string_view warning_name(Warning warning);
std::optional<Warning> parse_warning(std::string_view name);
// One sentence for people.
std::string_view warning_sentence(Warning warning);

// Those that an object's "warnings" name, each once: files that were written before have "doubts".
// None where it has neither. Throws InputError for an unknown name.
std::vector<Warning> read_warnings(const JsonField& owner);

// Appends those of `more` that are missing.
void add_warnings(std::vector<Warning>& warnings, const std::vector<Warning>& more);

// The same for an array of names, or null. The result is sorted.
void add_warning_names(nlohmann::json& names, const std::vector<Warning>& more);

}  // namespace fusegate::baselines
