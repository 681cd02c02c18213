#include "bench/profiling/profiler.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kernels/contract/readable_name.h"
#include "kernels/contract/stage_marks.h"

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
  for (const ProfiledPart& part : call.parts) {
    if (part.launch) part.launch();
  }
  call.wait();
}

// Launches the parts of one step, and follows the stages that they mark.
class PartRecorder {
 public:
  PartRecorder(Profiler& profiler, const ProfiledCall& call) : profiler_(profiler) {
    for (const ProfiledPart& part : call.parts) stages_.push_back(part.stage);
  }

  void launch(std::size_t number, const std::function<void()>& part) {
    struct End {
      PartRecorder& recorder;
      ~End() { recorder.end(); }
    };
    begin(number);
    const End at_last{*this};
    const kernels::StageListener listener([this](std::string_view name) { begin(number_of(name)); },
                                          [this] { end(); });
    part();
  }

  void move_to(Activity& activity) {
    activity.stages = std::move(stages_);
    activity.spans = std::move(spans_);
  }

 private:
  std::size_t number_of(std::string_view name) {
    const auto found = std::ranges::find(stages_, name);
    if (found == stages_.end()) return stages_.emplace_back(name), stages_.size() - 1;
    return static_cast<std::size_t>(found - stages_.begin());
  }

  void begin(std::size_t number) {
    const std::int64_t start = profiler_.now();
    profiler_.begin_part(number);
    open_.push_back(spans_.size());
    spans_.push_back({number, {.start = start}});
  }

  // A clock that fails here fails the step at its next reading.
  void end() noexcept {
    profiler_.end_part();
    HostSpan& span = spans_[open_.back()].span;
    open_.pop_back();
    try {
      span.end = profiler_.now();
    } catch (const ProfilerError&) {
      span.end = span.start;
    }
  }

  Profiler& profiler_;
  std::vector<std::string> stages_;
  std::vector<PartSpan> spans_;
  std::vector<std::size_t> open_;  // of the spans, the innermost last
};

Activity record(Profiler& profiler, const ProfiledCall& call) {
  PartRecorder recorder(profiler, call);
  const std::int64_t began = profiler.now();
  for (std::size_t i = 0; i < call.parts.size(); ++i) {
    if (call.parts[i].launch) recorder.launch(i, call.parts[i].launch);
  }
  const std::int64_t launched = profiler.now();
  call.wait();
  const std::int64_t ended = profiler.now();
  Activity activity = profiler.take();
  activity.began = began;
  activity.launched = launched;
  activity.ended = ended;
  recorder.move_to(activity);
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
  for (const kernels::Stage& stage : kernel.stages) {
    call.parts.push_back({stage.name, stage.launch});
  }
  return call;
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
