#include "bench/profiling/activity.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "kernels/contract/readable_name.h"

namespace fusegate::bench {
namespace {

// Puts records on the call's axis of time and into its stages.
class Spans {
 public:
  Spans(const Activity& activity, const std::vector<std::string>& stages) : began_(activity.began) {
    for (const PartActivity& part : activity.parts) {
      if (part.part < stages.size()) stage_of_[part.correlation] = stages[part.part];
    }
  }

  baselines::ProfileSpan operator()(const ActivityTime& time) const {
    const auto stage = stage_of_.find(time.correlation);
    // As doubles: a clock of the host may place a start just before the call began.
    return {.stage = stage == stage_of_.end() ? std::string() : stage->second,
            .start_ns = since_start(time.start),
            .duration_ns = since_start(time.end) - since_start(time.start),
            .correlation = time.correlation};
  }

 private:
  double since_start(std::uint64_t time) const {
    return time >= began_ ? static_cast<double>(time - began_)
                          : -static_cast<double>(began_ - time);
  }

  std::uint64_t began_;
  std::map<std::uint32_t, std::string> stage_of_;  // by correlation
};

template <typename Records>
void sort_by_start(Records& records) {
  std::ranges::stable_sort(records, {}, [](const auto& record) { return record.span.start_ns; });
}

}  // namespace

// "cudaLaunchKernel" of "cudaLaunchKernel_v7000". The driver's "cuMemAlloc_v2" keeps its own: that
// is the function's name.
std::string call_name(const std::string& name) {
  const auto suffix = name.rfind("_v");
  if (!name.starts_with("cuda") || suffix == std::string::npos) return name;
  const std::string_view version = std::string_view(name).substr(suffix + 2);
  const bool is_version = version.size() >= 4 &&
                          std::ranges::all_of(version, [](char c) { return c >= '0' && c <= '9'; });
  return is_version ? name.substr(0, suffix) : name;
}

baselines::CallProfile assemble_profile(const Activity& activity,
                                        const std::vector<std::string>& stages) {
  const Spans span(activity, stages);
  baselines::CallProfile profile;
  for (const KernelActivity& kernel : activity.kernels) {
    profile.kernels.push_back({.name = kernels::readable_name(kernel.name.c_str()),
                               .span = span(kernel.time),
                               .grid = kernel.grid,
                               .block = kernel.block,
                               .registers = kernel.registers,
                               .static_shared_bytes = kernel.static_shared_bytes,
                               .dynamic_shared_bytes = kernel.dynamic_shared_bytes});
  }
  for (const MemoryActivity& operation : activity.memory_operations) {
    profile.memory_operations.push_back({.kind = operation.kind,
                                         .span = span(operation.time),
                                         .bytes = static_cast<std::int64_t>(operation.bytes)});
  }
  for (const CallActivity& call : activity.calls) {
    // Such as waiting for the call.
    if (call.time.start < activity.began || call.time.start >= activity.launched) continue;
    profile.calls.push_back({.name = call_name(call.name), .span = span(call.time)});
  }
  sort_by_start(profile.kernels);
  sort_by_start(profile.memory_operations);
  sort_by_start(profile.calls);
  return profile;
}

}  // namespace fusegate::bench
