// One benchmark in one process: checked once, then sampled in several memory layouts, each sample
// after idling.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/warning.h"
#include "bench/measuring/energy.h"
#include "bench/measuring/layout_check.h"
#include "bench/meters/meter.h"
#include "bench/plan/plan.h"
#include "bench/plan/protocol.h"
#include "bench/profiling/step_trace.h"
#include "kernels/contract/verify.h"
#include "kernels/contract/workspace.h"

namespace fusegate::bench {

// What is known of a benchmark besides its samples.
struct BenchmarkRecord {
  int calls = 0;  // a sample has; known from the first layout on
  double relative_error = 0;
  double flops = 0;
  double min_bytes = 0;
  // The operation's tensors and the kernel's scratch; NaN where its launches allocate.
  double memory_bytes = 0;
  std::optional<double> kept_bytes = {};  // of it, from forward to backward
  double host_ns = 0;
  double host_graph_ns = 0;
  LaunchCount launches;                // not known where it is not capturable
  std::string not_capturable = {};     // why; "" where a graph holds it
  std::vector<kernels::Stage> stages;  // without launch functions
};

// Random padding allocation, so that new tensors do not reuse the freed addresses.
class Ballast {
 public:
  Ballast(kernels::Device& device, std::uint64_t seed) : device_(device), random_(seed) {}

  // Allocates before it frees.
  void roll() { memory_ = device_.allocate((1 + random_() % 64) << 20); }

 private:
  kernels::Device& device_;
  std::mt19937_64 random_;
  kernels::Memory memory_;
};

// What was measured in one memory layout.
struct LayoutRecord {
  std::vector<Sample> samples;
  std::set<baselines::Warning> warnings;
  std::vector<std::string> throttle_reasons;  // if the machine was probed after the samples
};

// A benchmark's tensors and prepared kernel in one memory layout.
struct Layout {
  kernels::Workspace workspace;
  kernels::PreparedKernel kernel;
  std::unique_ptr<Batch> batch;  // refers to the kernel
  LayoutRecord record;
};

// What the sessions of a process share.
struct SessionContext {
  kernels::Device& device;
  Meter& meter;
  Ballast& ballast;
  const Protocol& protocol;
  std::uint64_t seed = 0;
};

// Whether a kernel broke the device's context, so that every CUDA call fails, on any rank; or a
// rank has ended.
bool is_lost(kernels::Device& device);

class Session {
 public:
  Session(const SessionContext& context, const PlannedBenchmark& benchmark)
      : context_(context), benchmark_(benchmark), check_(context.device, context.meter) {}

  // Checks the implementation against the reference. Throws std::runtime_error where it fails.
  void verify(kernels::Verifier& verifier);
  bool verified() const { return verified_; }
  std::string name() const { return benchmark_.name(); }
  // Prepares a layout and warms up. The first time also sizes the batch and describes the
  // benchmark. Throws std::logic_error unless verified, and std::runtime_error where the call works
  // in another layout's memory.
  std::unique_ptr<Layout> enter(int layout);
  // Autotunes what is not chosen yet, in the first layout.
  void choose() { move_to(0); }
  // What one call launches, in the first layout. After everything timed (Meter::profile).
  ProfileAttempt profile();
  // In the first layout (energy.h). After everything timed.
  std::optional<CallEnergy> call_energy(const EnergySource& source,
                                        std::chrono::nanoseconds stretch);
  // The schedule's recorded steps, in the first layout. Throws std::logic_error unless verified,
  // ProfilerError, and what the kernel throws.
  TracedBenchmark trace(const TraceSchedule& schedule, const StepBorder& border);
  // Idles, runs one batch and adds it to the layout's record.
  const Sample& run_sample(Layout& layout);
  // After the layout's samples, whose tensors it changes: outputs of the batch on inputs of that
  // seed (timed_check.h). Throws std::runtime_error where calls do not each do their work.
  std::vector<kernels::Memory> check_timed(Layout& layout, std::uint64_t seed,
                                           std::mt19937_64& random) const;
  // After the last sample. Throws std::runtime_error where the device worked for longer than the
  // samples say.
  void require_whole_times() const;
  const PlannedBenchmark& benchmark() const { return benchmark_; }

  const BenchmarkRecord& record() const { return record_; }

 private:
  kernels::Ranks& ranks() const { return context_.device.ranks(); }
  std::unique_ptr<Layout> move_to(int layout);
  std::unique_ptr<Layout> move_alone_to(int layout);
  std::unique_ptr<Layout> enter_in_step(int layout);
  std::string why_not_capturable(Layout& layout) const;
  BatchOptions batch_options() const;
  void size_batch(const kernels::PreparedKernel& kernel);
  void describe(const kernels::PreparedKernel& kernel);

  const SessionContext& context_;
  const PlannedBenchmark& benchmark_;
  bool verified_ = false;
  BenchmarkRecord record_;
  LayoutCheck check_;
  double shortest_ns_ = std::numeric_limits<double>::infinity();  // of the samples
  std::vector<double> hidden_shares_;  // of the samples' times (Sample::hidden_ns)
};

}  // namespace fusegate::bench
