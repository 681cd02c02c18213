#include "bench/profiling/step_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace fusegate::bench {
namespace {

std::int64_t first_time(const std::vector<TracedBenchmark>& benchmarks) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const TracedBenchmark& benchmark : benchmarks) {
    for (const RecordedStep& step : benchmark.steps) first = std::min(first, step.activity.began);
    for (const ClockMark& clock : benchmark.clocks) first = std::min(first, clock.at);
  }
  return first;
}

class Assembler {
 public:
  Assembler(std::int64_t origin, const baselines::TraceTrack& recorder)
      : origin_(origin),
        host_(trace_.add_track({recorder.process, recorder.thread, kProgramName, "main"})) {}

  void add(const TracedBenchmark& benchmark) {
    for (const RecordedStep& step : benchmark.steps) add_step(benchmark, step);
    for (const ClockMark& clock : benchmark.clocks) {
      trace_.counters.push_back(
          {.name = "SM clock (MHz)", .at_ns = clock.at - origin_, .value = clock.mhz});
    }
  }

  baselines::Trace take() {
    const std::int64_t process = clocked_process();
    for (baselines::TraceCounter& counter : trace_.counters) counter.process = process;
    return std::move(trace_);
  }

 private:
  void add_step(const TracedBenchmark& benchmark, const RecordedStep& step) {
    const Activity& activity = step.activity;
    correlations_.clear();
    add_range(fmt::format("ProfilerStep#{}", benchmark.step_number(step)),
              {activity.began, activity.ended});
    add_range(benchmark.name, {activity.began, activity.launched});
    for (const PartSpan& part : activity.spans) {
      add_range(activity.stages.at(part.part), part.span);
    }
    for (const baselines::TraceEvent& event : activity.trace.events) {
      const bool is_within = event.start_ns >= activity.began && event.start_ns < activity.ended;
      if (is_within || !baselines::is_call(event.category)) {
        add_event(event, activity.trace.tracks.at(event.track));
      }
    }
  }

  void add_range(const std::string& name, const HostSpan& span) {
    trace_.events.push_back({.name = name,
                             .track = host_,
                             .start_ns = span.start - origin_,
                             .duration_ns = span.end - span.start});
  }

  void add_event(baselines::TraceEvent event, const baselines::TraceTrack& track) {
    event.track = trace_.add_track(track);
    event.start_ns -= origin_;
    if (event.correlation != 0) {
      const auto [known, added] = correlations_.try_emplace(event.correlation, next_correlation_);
      next_correlation_ += added;
      event.correlation = known->second;
    }
    trace_.events.push_back(std::move(event));
  }

  // The GPU's, where anything ran on one.
  std::int64_t clocked_process() const {
    const auto work = std::ranges::find_if(trace_.events, [](const baselines::TraceEvent& event) {
      return baselines::is_gpu_work(event.category);
    });
    return work == trace_.events.end() ? trace_.tracks[host_].process
                                       : trace_.tracks[work->track].process;
  }

  baselines::Trace trace_;
  std::int64_t origin_;
  std::size_t host_;
  std::map<std::int64_t, std::int64_t> correlations_;  // of the step at hand
  std::int64_t next_correlation_ = 1;
};

}  // namespace

baselines::Trace assemble_trace(const std::vector<TracedBenchmark>& benchmarks,
                                const baselines::TraceTrack& recorder) {
  Assembler assembler(first_time(benchmarks), recorder);
  for (const TracedBenchmark& benchmark : benchmarks) assembler.add(benchmark);
  return assembler.take();
}

}  // namespace fusegate::bench
