// The interface of an attached profiler, and calls that run step by step under it. Implemented for
// GPUs (cupti_activity.cc) and, with host times only, for CPUs (cpu_meter.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "baselines/record/warning.h"
#include "bench/profiling/activity.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {

// Says why nothing can be recorded.
class ProfilerError : public std::runtime_error {
 public:
  explicit ProfilerError(baselines::Warning warning)
      : std::runtime_error(std::string(baselines::warning_sentence(warning))), warning_(warning) {}
  baselines::Warning warning() const { return warning_; }

 private:
  baselines::Warning warning_;
};

// Attached from construction to destruction. All throw ProfilerError.
class Profiler {
 public:
  virtual ~Profiler() = default;
  // In ns, on the clock of the records.
  virtual std::int64_t now() const = 0;
  // Records what this thread launches under the number, up to the part's end. Parts nest: the
  // innermost counts.
  virtual void begin_part(std::size_t number) = 0;
  virtual void end_part() noexcept = 0;
  // The records since the last call, without host spans. Names are the profiler's: mangled, and
  // with a call's runtime version. The device must be idle.
  virtual Activity take() = 0;
};

using AttachProfiler = std::function<std::unique_ptr<Profiler>()>;
using StepBorder = std::function<void(const Profiler&)>;

// CUPTI's; a process can have one at a time. Throws ProfilerError where it is missing, refused or
// taken.
std::unique_ptr<Profiler> attach_cupti();

// What a step runs.
struct ProfiledPart {
  std::string stage;
  std::function<void()> launch;  // may mark stages; empty where another part's launch marks it
};
struct ProfiledCall {
  std::vector<ProfiledPart> parts;  // in order
  std::function<void()> wait;       // until the device is through
};

// The first steps run without a profiler, for one-time setup. The next warm up the profiler, whose
// first records are slow, and are dropped. The others are recorded. By default 1, 1 and 3, as in
// the profiling series.
struct TraceSchedule {
  int wait = 1;
  int warm_up = 1;
  int active = 3;

  int steps() const { return wait + warm_up + active; }
};

// The kernel's stages. The device must outlive the call.
ProfiledCall profiled_call(const kernels::PreparedKernel& kernel, kernels::Device& device);

struct RecordedStep {
  int step = 0;  // of the schedule
  Activity activity;
};

// Runs the schedule's steps and returns the active ones. The profiler is attached from the first
// warm-up step on. border, if given, is called right before and after each active step. Exceptions
// pass to the caller, with the profiler detached.
std::vector<RecordedStep> record_steps(const TraceSchedule& schedule, const AttachProfiler& attach,
                                       const ProfiledCall& call, const StepBorder& border = {});

}  // namespace fusegate::bench
