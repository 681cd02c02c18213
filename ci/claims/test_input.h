// For tests: what the claims are checked by, made of numbers: a card on which all of them hold.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "baselines/launches/test_profile.h"
#include "baselines/record/test_run.h"
#include "ci/claims/input.h"

namespace fusegate::ci {

inline std::string reference_benchmark(const std::string& operation,
                                       const std::string& implementation) {
  return operation + "/" + implementation + "/bf16/batch:64/seq:128/dim:768/hidden:3072";
}

struct TestMeasured {
  std::string name;
  double time_ns = 0;
  double host_ns = 5000;
  double min_bytes = 0;
  std::vector<baselines::TestLaunch> launches{};
};

// One process more: times and host times differ by 0.1 % from one to the next.
inline void add_process(const std::vector<TestMeasured>& benchmarks, MeasuredRun* measured) {
  const double noise = 1 + 0.001 * static_cast<double>(measured->processes.size());
  baselines::RunFile& process = measured->processes.emplace_back();
  measured->run.benchmarks.clear();
  for (const TestMeasured& one : benchmarks) {
    baselines::BenchmarkResult result;
    result.name = one.name;
    result.summary.time_ns = one.time_ns * noise;
    result.summary.cycles = one.time_ns * noise * 2;
    result.counters = {{"host_ns", one.host_ns * noise}, {"min_bytes", one.min_bytes}};
    baselines::BenchmarkSeries series = baselines::test_series(one.name, {one.time_ns});
    series.counters = result.counters;
    if (!one.launches.empty()) {
      result.profile = baselines::test_profile(one.launches, 1);
      series.profile = result.profile;
    }
    process.benchmarks.push_back(std::move(result));
    measured->run.benchmarks.push_back(std::move(series));
  }
}

inline MeasuredRun test_measured(const std::vector<TestMeasured>& benchmarks, int processes = 3) {
  MeasuredRun measured;
  for (int i = 0; i < processes; ++i) add_process(benchmarks, &measured);
  return measured;
}

// What a step dispatches: an operator, and the kernel that it launches where it launches one.
struct TestOperator {
  std::string name;
  std::string kernel{};
  std::string query{};  // a call before the launch
};

// Three steps of the same, as bench/peers/record_trace.py records them.
inline baselines::Trace steps_trace(const std::string& benchmark,
                                    const std::vector<TestOperator>& step) {
  using enum baselines::TraceCategory;
  baselines::Trace trace;
  const std::size_t host = trace.add_track({1, 1, "python", "main"});
  const std::size_t stream = trace.add_track({0, 7, "GPU 0", "stream 7"});
  std::int64_t at = 0, correlation = 0;
  for (int number = 2; number < 5; ++number) {
    const auto length = static_cast<std::int64_t>(step.size()) * 100;
    trace.events.push_back(
        {"ProfilerStep#" + std::to_string(number), kRange, host, at, length + 20});
    trace.events.push_back({benchmark, kRange, host, at + 1, length + 10});
    for (const TestOperator& one : step) {
      at += 100;
      trace.events.push_back({one.name, kOperator, host, at - 90, 80});
      if (!one.query.empty()) trace.events.push_back({one.query, kRuntimeCall, host, at - 80, 5});
      if (one.kernel.empty()) continue;
      ++correlation;
      trace.events.push_back({"cudaLaunchKernel", kRuntimeCall, host, at - 70, 10, correlation});
      trace.events.push_back({one.kernel, kKernel, stream, at - 50, 40, correlation});
    }
    at += 50;
  }
  return trace;
}

inline void set_trace(ClaimsInput* input, const std::string& operation,
                      const std::string& implementation, const std::vector<TestOperator>& step) {
  const baselines::Trace trace = steps_trace(reference_benchmark(operation, implementation), step);
  input->traces[operation + "-" + implementation] = {baselines::summarize(trace),
                                                     trace_steps(trace)};
}

}  // namespace fusegate::ci
