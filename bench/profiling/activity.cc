#include "bench/profiling/activity.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fusegate::bench {
namespace {

using baselines::TraceCategory;
using baselines::TraceEvent;

baselines::LaunchedKernel kernel_of(const TraceEvent& event, baselines::ProfileSpan span) {
  const auto launch = event.launch.value_or(baselines::LaunchShape());
  return {.name = event.name,
          .span = std::move(span),
          .grid = launch.grid,
          .block = launch.block,
          .registers = launch.registers_per_thread,
          .static_shared_bytes = launch.static_shared_bytes,
          .dynamic_shared_bytes = launch.shared_bytes - launch.static_shared_bytes};
}

template <typename Records>
void sort_by_start(Records& records) {
  std::ranges::stable_sort(records, {}, [](const auto& record) { return record.span.start_ns; });
}

}  // namespace

baselines::CallProfile assemble_profile(const Activity& activity) {
  std::map<std::int64_t, std::string> stage_of;  // by correlation
  for (const PartActivity& part : activity.parts) {
    if (part.part < activity.stages.size()) {
      stage_of[part.correlation] = activity.stages[part.part];
    }
  }
  // On the call's axis of time: the host's clock may put a start just before the call began.
  const auto span = [&](const TraceEvent& event) {
    const auto stage = stage_of.find(event.correlation);
    return baselines::ProfileSpan{.stage = stage == stage_of.end() ? std::string() : stage->second,
                                  .start_ns = static_cast<double>(event.start_ns - activity.began),
                                  .duration_ns = static_cast<double>(event.duration_ns),
                                  .correlation = event.correlation};
  };
  baselines::CallProfile profile;
  for (const TraceEvent& event : activity.trace.events) {
    if (event.category == TraceCategory::kKernel) {
      profile.kernels.push_back(kernel_of(event, span(event)));
    } else if (baselines::is_gpu_work(event.category)) {
      profile.memory_operations.push_back(
          {.kind = event.category == TraceCategory::kMemset ? "memset" : "memcpy",
           .span = span(event),
           .bytes = event.bytes.value_or(0)});
    } else if (event.start_ns >= activity.began && event.start_ns < activity.launched) {
      // Not, for one, waiting for the call.
      profile.calls.push_back({.name = event.name, .span = span(event)});
    }
  }
  sort_by_start(profile.kernels);
  sort_by_start(profile.memory_operations);
  sort_by_start(profile.calls);
  return profile;
}

}  // namespace fusegate::bench
