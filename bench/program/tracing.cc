#include "bench/program/tracing.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "baselines/traces/writer.h"
#include "bench/machine/log_warning.h"
#include "bench/measuring/interrupt.h"

namespace fusegate::bench {

Tracing::Tracing(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
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

Outcome Tracing::run(const std::filesystem::path& out) {
  context_.meter.attach_profiler();  // fails here rather than after the checks
  verify();
  record();
  if (device_lost_) return Outcome::kDeviceLost;
  if (interrupted()) return Outcome::kInterrupted;
  if (traced_.empty()) return Outcome::kFailures;
  probe_.probe();
  baselines::write_trace(out, trace());
  log_warning("{} benchmark{} traced in {}", traced_.size(), traced_.size() == 1 ? "" : "s",
              out.string());
  return failures_.empty() ? Outcome::kComplete : Outcome::kFailures;
}

void Tracing::verify() {
  kernels::Verifier verifier(device_,
                             info_.seed);  // frees its memory before anything is laid out
  for (Session& session : sessions_) {
    attempt(session, [&] { session.verify(verifier); });
  }
}

void Tracing::record() {
  for (Session& session : sessions_) {
    if (session.verified()) attempt(session, [&] { record(session); });
  }
}

void Tracing::record(Session& session) {
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

void Tracing::attempt(const Session& session, const std::function<void()>& what) {
  if (device_lost_ || interrupted()) return;
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

baselines::Trace Tracing::trace() const {
  baselines::Trace trace =
      assemble_trace(traced_, {.process = getpid(), .thread = syscall(SYS_gettid)});
  trace.about = about();
  return trace;
}

nlohmann::json Tracing::about() const {
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

}  // namespace fusegate::bench
