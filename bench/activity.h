// What a profiler of a GPU delivers about one call, in whatever order it does, and the way of that
// into a profile. Knows no profiler: cupti_activity.cc fills it in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baselines/call_profile.h"
#include "baselines/doubt.h"

namespace fusegate {

// In ns, of the profiler's clock. The correlation tells which call launched what.
struct ActivityTime {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
};

struct KernelActivity {
  std::string name;  // as the compiler has it, mangled
  ActivityTime time{};
  std::array<std::int64_t, 3> grid{}, block{};
  std::int64_t registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
};

struct MemoryActivity {
  std::string kind;  // "memset", "memcpy"
  ActivityTime time{};
  std::uint64_t bytes = 0;
};

struct CallActivity {
  std::string name;  // "cudaLaunchKernel_v7000": with the version of the runtime that it came with
  ActivityTime time{};
};

// That a call was made within a part.
struct PartActivity {
  std::uint32_t correlation = 0;
  std::size_t part = 0;
};

struct Activity {
  std::uint64_t began = 0;     // before the first part was launched
  std::uint64_t launched = 0;  // after the last one was: what the host calls then is not the call's
  std::vector<KernelActivity> kernels{};
  std::vector<MemoryActivity> memory_operations{};
  std::vector<CallActivity> calls{};
  std::vector<PartActivity> parts{};
};

// Exactly one of the two.
struct RecordedActivity {
  std::optional<Activity> activity{};
  std::optional<Doubt> doubt{};  // why there is none
};

// Attaches the profiler, calls every part in order and waits, once to warm up and once to record,
// and detaches it. Whatever they throw goes on to the caller, with the profiler detached.
RecordedActivity record_activity(const std::vector<std::function<void()>>& parts,
                                 const std::function<void()>& wait);

// Records joined by correlation, in order of start, names readable, and times since the call began.
// stages: the parts' names. What no part launched has no stage.
CallProfile assemble_profile(const Activity& activity, const std::vector<std::string>& stages);

}  // namespace fusegate
