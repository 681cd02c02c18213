// One benchmark in one process, as the protocol says: checked once, then sampled in several places
// of memory, each sample after idling.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/doubt.h"
#include "bench/measuring/energy.h"
#include "bench/measuring/meter.h"
#include "bench/plan/plan.h"
#include "bench/plan/protocol.h"
#include "bench/profiling/step_trace.h"
#include "kernels/contract/verify.h"
#include "kernels/contract/workspace.h"

namespace fusegate::bench {

// What is known of a benchmark besides its samples.
struct BenchmarkRecord {
  int calls = 0;  // a sample has; known from the first place on
  double relative_error = 0;
  double flops = 0;
  double min_bytes = 0;
  double host_ns = 0;
  double host_graph_ns = 0;
  LaunchCount launches;                // not known where it is not capturable
  std::string not_capturable = {};     // why; "" where a graph holds it
  std::vector<kernels::Stage> stages;  // without launch functions
};

// A block of random size that lies in the way of the tensors to come, so that a place is not the
// one that was just freed.
class Ballast {
 public:
  Ballast(kernels::Device& device, std::uint64_t seed) : device_(device), random_(seed) {}

  // The new block is taken before the old one is freed.
  void roll() { memory_ = device_.allocate((1 + random_() % 64) << 20); }

 private:
  kernels::Device& device_;
  std::mt19937_64 random_;
  kernels::Memory memory_;
};

// Everything taken in one place.
struct PlaceRecord {
  std::vector<Sample> samples;
  std::set<baselines::Doubt> doubts;
  std::vector<std::string> throttle_reasons;  // where the machine was looked at after the samples
};

// A benchmark in one place of memory, which is freed with it.
struct Place {
  kernels::Workspace workspace;
  kernels::PreparedKernel kernel;
  std::unique_ptr<Batch> batch;  // after the kernel, which it refers to
  PlaceRecord record;
};

// What the sessions of a process share.
struct SessionContext {
  kernels::Device& device;
  Meter& meter;
  Ballast& ballast;
  const Protocol& protocol;
  std::uint64_t seed = 0;
};

// Whether a kernel broke the device's context: CUDA says so at every call from then on.
bool is_lost(kernels::Device& device);

class Session {
 public:
  Session(const SessionContext& context, const PlannedBenchmark& benchmark)
      : context_(context), benchmark_(benchmark) {}

  // Checks the implementation against the reference. Throws std::runtime_error where it fails.
  void verify(kernels::Verifier& verifier);
  bool verified() const { return verified_; }
  std::string name() const { return benchmark_.name(); }
  // Moves to a fresh place and warms up there; the first time also fixes the batch and describes
  // the benchmark. Throws std::logic_error unless verified.
  std::unique_ptr<Place> enter(int place);
  // Has the device choose by measuring what it has not chosen yet, in the layout of the first
  // place.
  void choose() { move_to(0); }
  // What one call puts on the device, in the layout of the first place. After everything timed
  // (Meter::profile).
  ProfileAttempt profile();
  // In the layout of the first place (energy.h). After everything timed.
  std::optional<CallEnergy> call_energy(const EnergySource& source,
                                        std::chrono::nanoseconds stretch);
  // The schedule's steps, recorded where they are to be kept, in the layout of the first place.
  // Throws std::logic_error unless verified, ProfilerError, and what the kernel throws.
  TracedBenchmark trace(const TraceSchedule& schedule, const StepBorder& border);
  // Idles, then runs one batch, which goes into the place's record.
  const Sample& run_sample(Place& place) const;

  const BenchmarkRecord& record() const { return record_; }

 private:
  std::unique_ptr<Place> move_to(int place);
  std::string why_not_capturable(Place& place) const;
  BatchOptions batch_options() const;
  void size_batch(const kernels::PreparedKernel& kernel);
  void describe(const kernels::PreparedKernel& kernel);

  const SessionContext& context_;
  const PlannedBenchmark& benchmark_;
  bool verified_ = false;
  BenchmarkRecord record_;
};

}  // namespace fusegate::bench
