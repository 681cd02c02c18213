#include "bench/program/tracing.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "baselines/io/file_io.h"
#include "baselines/traces/trace.h"
#include "baselines/traces/writer.h"
#include "bench/machine/log_warning.h"
#include "bench/measuring/session.h"
#include "bench/profiling/step_trace.h"
#include "bench/ranks/interrupt.h"
#include "bench/ranks/rank_group.h"

namespace fusegate::bench {
namespace {

// All arguments must outlive it.
class Tracing {
 public:
  Tracing(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
          const ProcessInfo& info)
      : device_(device),
        probe_(probe),
        info_(info),
        ballast_(device, info.seed),
        context_{device, meter, ballast_, info.protocol, info.seed} {
    for (const PlannedBenchmark& benchmark : plan.benchmarks) {
      sessions_.emplace_back(context_, benchmark);
    }
  }
  // The sessions' context refers to the ballast.
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  void verify() {
    kernels::Verifier verifier(device_, info_.seed);  // frees its memory before the layouts
    for (Session& session : sessions_) {
      attempt(session, [&] { session.verify(verifier); });
    }
  }

  void record() {
    for (Session& session : sessions_) {
      if (session.verified()) attempt(session, [&] { record(session); });
    }
  }

  Outcome write(const std::filesystem::path& out) {
    if (device_lost_) return Outcome::kDeviceLost;
    if (interrupted()) return Outcome::kInterrupted;
    if (traced_.empty()) return Outcome::kFailures;
    probe_.probe();
    baselines::Trace trace =
        assemble_trace(traced_, {.process = getpid(), .thread = syscall(SYS_gettid)});
    trace.about = about();
    if (device_.ranks().is_first()) {
      baselines::write_atomically(out, baselines::trace_text(trace));
    }
    log_warning("{} benchmark{} traced in {}", traced_.size(), traced_.size() == 1 ? "" : "s",
                out.string());
    return failures_.empty() ? Outcome::kComplete : Outcome::kFailures;
  }

 private:
  // Leaves a benchmark that fails out. Does nothing after a signal or where the device was lost.
  void attempt(const Session& session, const std::function<void()>& what) {
    if (device_lost_ || interrupted()) return;
    const RankGroup group(device_, session.benchmark().problem);
    if (!group.takes_part()) return;
    try {
      what();
    } catch (const ProfilerError&) {
      throw;  // not the benchmark's fault: no trace is written
    } catch (const std::exception& error) {
      failures_[session.name()] = error.what();
      log_warning("{}: {}", session.name(), error.what());
      device_lost_ = is_lost(device_);
    }
  }

  void record(Session& session) {
    std::vector<ClockMark> clocks;
    const auto read_clock = [&](const Profiler& profiler) {
      const auto mhz = probe_.sm_clock_mhz();
      if (mhz) clocks.push_back({.at = profiler.now(), .mhz = static_cast<double>(*mhz)});
    };
    TracedBenchmark traced = session.trace(schedule_, read_clock);
    traced.clocks = std::move(clocks);
    traced.first_step = std::exchange(steps_, steps_ + schedule_.steps());
    traced_.push_back(std::move(traced));
  }

  nlohmann::json about() const {
    nlohmann::json about = origin_json(info_, probe_);
    about["schedule"] = {
        {"wait", schedule_.wait}, {"warm_up", schedule_.warm_up}, {"active", schedule_.active}};
    for (const TracedBenchmark& benchmark : traced_) {
      nlohmann::json steps = nlohmann::json::array();
      for (const RecordedStep& step : benchmark.steps) steps.push_back(benchmark.step_number(step));
      about["benchmarks"].push_back({{"name", benchmark.name}, {"steps", steps}});
    }
    if (!failures_.empty()) about["failures"] = failures_;
    return about;
  }

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

}  // namespace

Outcome record_trace(kernels::Device& device, Meter& meter, const Plan& plan,
                     EnvironmentProbe& probe, const ProcessInfo& info,
                     const std::filesystem::path& out) {
  Tracing tracing(device, meter, plan, probe, info);
  meter.attach_profiler();  // fails here rather than after the checks
  tracing.verify();
  tracing.record();
  return tracing.write(out);
}

}  // namespace fusegate::bench
