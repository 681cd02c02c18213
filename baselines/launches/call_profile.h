// What one call of a benchmark launched, as a profiler recorded it: kernels, memory operations and
// the calls of CUDA's runtime and driver that launched them. In a run file it is details.profile of
// one entry of the benchmark:
//
//   {"kernels": [{name, stage, grid: [x, y, z], block: [x, y, z], registers, static_shared_bytes,
//                 dynamic_shared_bytes, start_ns, duration_ns, correlation}],
//    "memory_operations": [{kind, bytes, stage, start_ns, duration_ns, correlation}],
//    "calls": [{name, stage, start_ns, duration_ns, correlation}]}
//
// Each list is in order of start. Times are ns since the profiled call began on the host; host and
// GPU share that axis. A profiler's times show how stages share a call, not how long it takes: they
// are of one call, and a launch costs the host microseconds more.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

// When and why something ran.
struct ProfileSpan {
  std::string stage;  // the stage, and NVTX range, that it was launched in; empty outside of any
  double start_ns = 0;
  double duration_ns = 0;
  // The same for a call and what it launched.
  std::int64_t correlation = 0;

  double end_ns() const { return start_ns + duration_ns; }
};

struct LaunchedKernel {
  std::string name;  // demangled where it is C++'s
  ProfileSpan span{};
  std::array<std::int64_t, 3> grid{}, block{};
  std::int64_t registers = 0;  // of a thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
};

struct LaunchedMemoryOperation {
  std::string kind;  // "memset", "memcpy"
  ProfileSpan span{};
  std::int64_t bytes = 0;
};

struct ApiCall {
  std::string name;  // such as "cudaLaunchKernel"
  ProfileSpan span{};
};

struct CallProfile {
  std::vector<LaunchedKernel> kernels;
  std::vector<LaunchedMemoryOperation> memory_operations;
  std::vector<ApiCall> calls;
};

// Something that the GPU did: a kernel, or a memory operation where there is none.
struct GpuWork {
  const ProfileSpan* span = nullptr;
  const LaunchedKernel* kernel = nullptr;
};

// In order of start. The profile must outlive it.
std::vector<GpuWork> gpu_work(const CallProfile& profile);

nlohmann::json call_profile_json(const CallProfile& profile);
// Throws InputError naming file and field: for a missing or mistyped one, or a negative time.
CallProfile parse_call_profile(const JsonField& field);

}  // namespace fusegate::baselines
