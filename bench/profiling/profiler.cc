#include "bench/profiling/profiler.h"

#include <utility>

namespace fusegate::bench {
namespace {

void run(const ProfiledCall& call) {
  for (const auto& part : call.parts) part();
  call.wait();
}

Activity record(Profiler& profiler, const ProfiledCall& call) {
  std::vector<HostSpan> spans;
  const std::uint64_t began = profiler.now();
  for (std::size_t i = 0; i < call.parts.size(); ++i) {
    const std::uint64_t start = profiler.now();
    profiler.launch(call.parts[i], i);
    spans.push_back({start, profiler.now()});
  }
  const std::uint64_t launched = profiler.now();
  call.wait();
  const std::uint64_t ended = profiler.now();
  Activity activity = profiler.take();
  activity.began = began;
  activity.launched = launched;
  activity.ended = ended;
  activity.part_spans = std::move(spans);
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
  std::vector<RecordedStep> kept;
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
    kept.push_back({.step = step, .activity = record(*profiler, call)});
    if (border) border(*profiler);
  }
  return kept;
}

}  // namespace fusegate::bench
