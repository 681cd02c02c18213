#include "bench/profiling/profiler.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kernels/contract/readable_name.h"

namespace fusegate::bench {
namespace {

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

void run(const ProfiledCall& call) {
  for (const auto& part : call.parts) part();
  call.wait();
}

Activity record(Profiler& profiler, const ProfiledCall& call) {
  std::vector<HostSpan> spans;
  const std::int64_t began = profiler.now();
  for (std::size_t i = 0; i < call.parts.size(); ++i) {
    const std::int64_t start = profiler.now();
    profiler.launch(call.parts[i], i);
    spans.push_back({start, profiler.now()});
  }
  const std::int64_t launched = profiler.now();
  call.wait();
  const std::int64_t ended = profiler.now();
  Activity activity = profiler.take();
  activity.began = began;
  activity.launched = launched;
  activity.ended = ended;
  activity.part_spans = std::move(spans);
  for (baselines::TraceEvent& event : activity.trace.events) {
    if (event.category == baselines::TraceCategory::kKernel) {
      event.name = kernels::readable_name(event.name.c_str());
    } else if (baselines::is_call(event.category)) {
      event.name = call_name(event.name);
    }
  }
  return activity;
}

}  // namespace

ProfiledCall profiled_call(const kernels::PreparedKernel& kernel, kernels::Device& device) {
  ProfiledCall call{.parts = {}, .wait = [&device] { device.synchronize(); }};
  for (const kernels::Stage& stage : kernel.stages) call.parts.push_back(stage.launch);
  return call;
}

std::vector<std::string> stage_names(const kernels::PreparedKernel& kernel) {
  std::vector<std::string> names;
  for (const kernels::Stage& stage : kernel.stages) names.push_back(stage.name);
  return names;
}

std::vector<RecordedStep> record_steps(const TraceSchedule& schedule, const AttachProfiler& attach,
                                       const ProfiledCall& call, const StepBorder& border) {
  std::vector<RecordedStep> recorded;
  std::unique_ptr<Profiler> profiler;
  for (int step = 0; step < schedule.steps(); ++step) {
    if (step < schedule.wait) {
      run(call);
      continue;
    }
    if (!profiler) profiler = attach();
    if (step < schedule.wait + schedule.warm_up) {
      record(*profiler, call);
      continue;
    }
    if (border) border(*profiler);
    recorded.push_back({.step = step, .activity = record(*profiler, call)});
    if (border) border(*profiler);
  }
  return recorded;
}

}  // namespace fusegate::bench
