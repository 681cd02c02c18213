// A meter times prepared kernels on one kind of device.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baselines/launches/call_identity.h"
#include "baselines/launches/call_profile.h"
#include "baselines/record/warning.h"
#include "bench/plan/protocol.h"
#include "bench/profiling/launch_arguments.h"
#include "bench/profiling/profiler.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {

// One timed batch of launches.
struct Sample {
  double batch_ns = 0;  // all calls together, on the device's own clock
  // Mean SM clock while the batch ran; on the CPU, the cycles of host_clock.h a second. NaN where
  // it could not be read.
  double sm_clock_hz = std::numeric_limits<double>::quiet_NaN();
  // What the device did of it outside of the events that time it, by the device's own clock, less
  // what a batch without calls does. NaN where that is not known.
  double hidden_ns = std::numeric_limits<double>::quiet_NaN();
  double held_up_ns = 0;  // of batch_ns, in which the CPU did something else
  double cpu_ns = 0;      // time of the process that it took; the session's to add
  // Of several ranks, by rank: then the times above are of the last to end, and its clock.
  struct OfRank {
    double batch_ns, sm_clock_hz;
  };
  std::vector<OfRank> of_ranks = {};
};

// What a batch is made of besides its calls.
struct BatchOptions {
  int calls = 1;  // one after another
  L2State l2 = L2State::kWarm;
  std::chrono::nanoseconds spin{0};  // a kernel that only spins, before anything is timed
  // Whether the calls may be recorded once and replayed (Meter::not_capturable). Else each is
  // launched anew in every batch, and the batch ends when the whole device has.
  bool captured = true;
};

// Work to enqueue on the device's stream, and the calls that follow it.
struct Change {
  std::function<void()> enqueue;
  int calls = 1;
};
using Changes = std::vector<Change>;
inline void launch_each(
    const Changes& changes, const kernels::PreparedKernel& kernel,
    const std::function<void()>& wait = [] {}) {
  for (const Change& change : changes) {
    change.enqueue();
    wait();
    for (int call = 0; call < change.calls; ++call) kernel.launch();
    wait();
  }
}

// Launches made ready to be repeated as one batch.
class Batch {
 public:
  virtual ~Batch() = default;
  virtual Sample run() = 0;
  // Runs the same work without waiting for its end, which what is enqueued next waits for.
  virtual void start() { launch(); }
  // Each change and its calls: of what the batch repeats, where that was recorded. Waits. Returns
  // the time of all that in ns.
  virtual double run_changing(const Changes& changes) = 0;
  // After a change, so that results which calls return lie where those of the batch's last call do.
  virtual int fewest_calls() const { return 1; }
  // Runs and waits, without reading clocks where it can, so that the next batch follows sooner.
  virtual void launch() { run(); }
};

struct LaunchCount {
  std::int64_t kernels = 0;
  std::int64_t memory_operations = 0;  // memsets and copies
};

// Neither profile nor identity on a device without launches.
struct ProfileAttempt {
  std::optional<baselines::CallProfile> profile{};
  std::optional<baselines::CallIdentity> identity{};
  std::optional<baselines::Warning> warning{};  // why there is neither
  kernels::StageChoices choices{};              // of the profiled kernel
  double flops = 0;                             // of a call; 0: unknown
  double min_bytes = 0;
  double memory_bytes = 0;  // NaN: unknown
  std::optional<double> kept_bytes = {};
};

// What it may leave out is that of a device without launches and graphs.
class Meter {
 public:
  virtual ~Meter() = default;
  // kernel must outlive the batch.
  virtual std::unique_ptr<Batch> record(const kernels::PreparedKernel& kernel,
                                        const BatchOptions& options) = 0;
  // Why a CUDA graph cannot hold the kernel's launches: it waits for the device, allocates, or uses
  // another stream than the device's. "" where it can. Launches it more than once. results: what it
  // writes or collects into. change_inputs: a launch after it writes other results, each time.
  virtual std::string not_capturable(const kernels::PreparedKernel& /*kernel*/,
                                     const std::vector<kernels::Tensor>& /*results*/,
                                     const std::function<void()>& /*change_inputs*/) {
    return "";
  }
  // The first argument of a call that is an address of an earlier memory layout, where a call can
  // be captured and has one. tensors: the operation's.
  virtual std::optional<StaleArgument> stale_argument(
      const kernels::PreparedKernel& /*kernel*/, const std::vector<kernels::Tensor>& /*tensors*/) {
    return std::nullopt;
  }
  // Whether it takes a batch that spins.
  virtual bool can_spin() const { return false; }
  virtual LaunchCount count_launches(const kernels::PreparedKernel& kernel) {
    const auto launches = [](const kernels::Stage& stage) { return stage.launch != nullptr; };
    return {.kernels = std::ranges::count_if(kernel.stages, launches)};
  }
  // Host time to launch one call, without waiting for the device. NaN where it is not known.
  virtual double host_ns(const kernels::PreparedKernel& /*kernel*/) { return kUnknown; }
  // The same where the call is one CUDA graph, made beforehand.
  virtual double host_graph_ns(const kernels::PreparedKernel& /*kernel*/) { return kUnknown; }
  // The kernels that the stage launches, in order. Empty where they are unknown.
  virtual std::vector<kernels::KernelResources> kernels(const kernels::Stage& /*stage*/) {
    return {};
  }
  // Launches one untimed call with an NVTX range for the benchmark and one for each stage: a range
  // costs microseconds under a profiler.
  virtual void annotate(const kernels::PreparedKernel& /*kernel*/,
                        const std::string& /*benchmark*/) {}
  // What one call launches, after one to warm up, and its identity if it can be captured. tensors:
  // the operation's. Attaches a profiler, which may slow the process: time nothing afterwards.
  virtual ProfileAttempt profile(const kernels::PreparedKernel& /*kernel*/,
                                 const std::vector<kernels::Tensor>& /*tensors*/,
                                 bool /*captured*/) {
    return {};
  }
  // The attached profiler of this kind of device; on a CPU it knows the host's times only. Time
  // nothing afterwards. Throws ProfilerError.
  virtual std::unique_ptr<Profiler> attach_profiler() = 0;

 protected:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace fusegate::bench
