// fusegate_bench --trace: records a trace of a few calls of every benchmark, without measuring.
// Each benchmark is checked against the reference first: a wrong kernel is never traced.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/traces/trace.h"
#include "bench/machine/environment_probe.h"
#include "bench/measuring/measuring_process.h"
#include "bench/measuring/session.h"
#include "bench/plan/plan.h"
#include "bench/profiling/step_trace.h"

namespace fusegate::bench {

// All arguments must outlive it.
class Tracing {
 public:
  Tracing(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
          const ProcessInfo& info);
  // The sessions' context refers to the ballast.
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  // Checks all, traces all, then writes what did not fail. Writes nothing where all failed, after a
  // signal or where the device was lost. Throws ProfilerError where nothing can be recorded here,
  // and InputError where the file cannot be written.
  Outcome run(const std::filesystem::path& out);

 private:
  void verify();
  void record();
  void record(Session& session);
  // Leaves a benchmark that fails out. Does nothing after a signal or where the device was lost.
  void attempt(const Session& session, const std::function<void()>& what);
  baselines::Trace trace() const;
  nlohmann::json about() const;

  kernels::Device& device_;
  EnvironmentProbe& probe_;
  const ProcessInfo& info_;
  Ballast ballast_;
  SessionContext context_;
  TraceSchedule schedule_;
  std::vector<Session> sessions_;
  bool device_lost_ = false;
  int steps_ = 0;  // of the benchmarks so far
  std::vector<TracedBenchmark> traced_;
  std::map<std::string, std::string> failures_;  // by benchmark
};

}  // namespace fusegate::bench
