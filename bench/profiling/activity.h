// The records that a GPU's profiler delivers about one call, in any order, and how they become a
// profile. It depends on no particular profiler (profiler.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "baselines/launches/call_profile.h"

namespace fusegate::bench {

// In ns, of the profiler's clock. The correlation tells which call launched what.
struct ActivityTime {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
};

// Where on the machine: CUDA's number of the GPU and CUPTI's of the stream.
struct StreamNumber {
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
};

struct KernelActivity {
  std::string name;  // as the compiler has it, mangled
  ActivityTime time{};
  StreamNumber stream{};
  std::array<std::int64_t, 3> grid{}, block{};
  std::int64_t registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
};

struct MemoryActivity {
  std::string kind;     // "memset", "memcpy"
  std::string title{};  // as PyTorch's profiler has it: "Memset (Device)"
  ActivityTime time{};
  StreamNumber stream{};
  std::uint64_t bytes = 0;
};

struct CallActivity {
  std::string name;  // "cudaLaunchKernel_v7000": with the version of the runtime that it came with
  ActivityTime time{};
  bool of_driver = false;    // else of the runtime
  std::uint32_t thread = 0;  // the system's number of it
};

// The name without that version.
std::string call_name(const std::string& name);

// That a call was made within a part.
struct PartActivity {
  std::uint32_t correlation = 0;
  std::size_t part = 0;
};

// On the host, in ns of the profiler's clock.
struct HostSpan {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

struct Activity {
  std::uint64_t began = 0;     // before the first part was launched
  std::uint64_t launched = 0;  // after the last one was: what the host calls then is not the call's
  std::uint64_t ended = 0;     // when the device was through
  std::vector<HostSpan> part_spans{};  // of each part's launch
  std::vector<KernelActivity> kernels{};
  std::vector<MemoryActivity> memory_operations{};
  std::vector<CallActivity> calls{};
  std::vector<PartActivity> parts{};
};

// Records joined by correlation, in order of start, names readable, and times since the call began.
// stages: the parts' names. What no part launched has no stage.
baselines::CallProfile assemble_profile(const Activity& activity,
                                        const std::vector<std::string>& stages);

}  // namespace fusegate::bench
