// What a benchmark launches: its kernels in order, the gaps between them, and its memory
// operations. A run file has one profiled call per process (call_profile.h), a baseline the medians
// over a run's.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"
#include "baselines/launches/call_profile.h"

namespace fusegate::baselines {

struct ProfiledKernel {
  std::string name;
  std::string stage;  // the NVTX range that it was launched in; empty outside of any
  double duration_ns = 0;
  // From the end of what the GPU did before, memory operations included, to this kernel's start;
  // below zero where it started early. Zero for what came first.
  double gap_ns = 0;
};

// Of one process or of a run. Of a run, medians over the processes that launched these kernels,
// which may be fewer than were profiled: autotuned products may choose others.
struct KernelProfile {
  std::vector<ProfiledKernel> kernels;  // in order of start
  int memory_operations = 0;            // memset, memcpy
  double memory_ns = 0;                 // their durations' sum
  // One per process that launched these: the sum of all gaps, and how long after the call began the
  // GPU started.
  std::vector<double> gaps_ns;
  std::vector<double> leads_ns;
  int processes = 1;  // that were profiled
};

// Of one profiled call.
KernelProfile kernel_profile(const CallProfile& call);

// profiles: one a process. Of those that launched the same kernels and as many memory
// operations, the largest group; the first of several such. profiles must not be empty.
KernelProfile merge_profiles(const std::vector<KernelProfile>& profiles);

// As a baseline stores it. Reading throws InputError naming the field.
KernelProfile read_stored_profile(const JsonField& field);
nlohmann::json stored_profile_json(const KernelProfile& profile);

}  // namespace fusegate::baselines
