#include "bench/profiling/step_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "kernels/contract/readable_name.h"

namespace fusegate::bench {
namespace {

constexpr const char* kProgram = "fusegate_bench";

std::uint64_t first_time(const std::vector<TracedBenchmark>& benchmarks) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const TracedBenchmark& benchmark : benchmarks) {
    for (const RecordedStep& step : benchmark.steps) first = std::min(first, step.activity.began);
    for (const ClockMark& clock : benchmark.clocks) first = std::min(first, clock.at);
  }
  return first;
}

class Assembler {
 public:
  Assembler(std::uint64_t origin, const HostThread& recorder)
      : origin_(origin),
        recorder_(recorder),
        host_(trace_.add_track({recorder.process, recorder.thread, kProgram, "main"})) {}

  void add(const TracedBenchmark& benchmark) {
    for (const RecordedStep& step : benchmark.steps) add_step(benchmark, step);
    clocks_.insert(clocks_.end(), benchmark.clocks.begin(), benchmark.clocks.end());
  }

  baselines::Trace take() {
    for (const ClockMark& clock : clocks_) {
      trace_.counters.push_back({.name = "SM clock (MHz)",
                                 .process = clocked_process(),
                                 .at_ns = since_origin(clock.at),
                                 .value = clock.mhz});
    }
    return std::move(trace_);
  }

 private:
  void add_step(const TracedBenchmark& benchmark, const RecordedStep& step) {
    const Activity& activity = step.activity;
    correlations_.clear();
    add_range(fmt::format("ProfilerStep#{}", benchmark.step_number(step)),
              {activity.began, activity.ended});
    add_range(benchmark.name, {activity.began, activity.launched});
    for (std::size_t i = 0; i < activity.part_spans.size(); ++i) {
      add_range(benchmark.stages.at(i), activity.part_spans[i]);
    }
    for (const CallActivity& call : activity.calls) {
      if (call.time.start >= activity.began && call.time.start < activity.ended) add_call(call);
    }
    for (const KernelActivity& kernel : activity.kernels) add_kernel(kernel);
    for (const MemoryActivity& operation : activity.memory_operations) add_memory(operation);
  }

  void add_range(const std::string& name, const HostSpan& span) {
    add_event(name, baselines::TraceCategory::kRange, host_, {span.start, span.end, 0});
  }

  void add_call(const CallActivity& call) {
    const bool is_ours = call.thread == recorder_.thread;
    const std::size_t track = is_ours ? host_
                                      : trace_.add_track({recorder_.process, call.thread, kProgram,
                                                          fmt::format("thread {}", call.thread)});
    const auto category = call.of_driver ? baselines::TraceCategory::kDriverCall
                                         : baselines::TraceCategory::kRuntimeCall;
    add_event(call_name(call.name), category, track, call.time);
  }

  void add_kernel(const KernelActivity& kernel) {
    baselines::TraceEvent& event =
        add_event(kernels::readable_name(kernel.name.c_str()), baselines::TraceCategory::kKernel,
                  track_of(kernel.stream), kernel.time);
    event.launch = baselines::LaunchShape{
        .grid = kernel.grid,
        .block = kernel.block,
        .registers_per_thread = kernel.registers,
        .shared_bytes = kernel.static_shared_bytes + kernel.dynamic_shared_bytes};
  }

  void add_memory(const MemoryActivity& operation) {
    const auto category = operation.kind == "memset" ? baselines::TraceCategory::kMemset
                                                     : baselines::TraceCategory::kMemcpy;
    baselines::TraceEvent& event =
        add_event(operation.title, category, track_of(operation.stream), operation.time);
    event.bytes = static_cast<std::int64_t>(operation.bytes);
  }

  baselines::TraceEvent& add_event(const std::string& name, baselines::TraceCategory category,
                                   std::size_t track, const ActivityTime& time) {
    trace_.events.push_back({.name = name,
                             .category = category,
                             .track = track,
                             .start_ns = since_origin(time.start),
                             .duration_ns = since_origin(time.end) - since_origin(time.start),
                             .correlation = renumbered(time.correlation)});
    return trace_.events.back();
  }

  std::size_t track_of(const StreamNumber& stream) {
    return trace_.add_track({stream.device, stream.stream, fmt::format("GPU {}", stream.device),
                             fmt::format("stream {}", stream.stream)});
  }

  std::int64_t since_origin(std::uint64_t time) const {
    return static_cast<std::int64_t>(time) - static_cast<std::int64_t>(origin_);
  }

  std::int64_t renumbered(std::uint32_t correlation) {
    if (correlation == 0) return 0;
    const auto [known, added] = correlations_.try_emplace(correlation, next_correlation_);
    next_correlation_ += added;
    return known->second;
  }

  // The GPU's, where anything ran on one.
  std::int64_t clocked_process() const {
    const auto work = std::ranges::find_if(trace_.events, [](const baselines::TraceEvent& event) {
      return baselines::is_gpu_work(event.category);
    });
    return work == trace_.events.end() ? recorder_.process : trace_.tracks[work->track].process;
  }

  baselines::Trace trace_;
  std::uint64_t origin_;
  HostThread recorder_;
  std::size_t host_;
  std::vector<ClockMark> clocks_;
  std::map<std::uint32_t, std::int64_t> correlations_;  // of the step at hand
  std::int64_t next_correlation_ = 1;
};

}  // namespace

baselines::Trace assemble_trace(const std::vector<TracedBenchmark>& benchmarks,
                                const HostThread& recorder) {
  Assembler assembler(first_time(benchmarks), recorder);
  for (const TracedBenchmark& benchmark : benchmarks) assembler.add(benchmark);
  return assembler.take();
}

}  // namespace fusegate::bench
