// Makes a trace of the recorded steps of benchmarks, laid out as PyTorch's profiler does. The
// host's lane has a range "ProfilerStep#N" for each step, which ends when the GPU has finished; in
// it one for the benchmark, which ends when everything is launched; in that one for each stage,
// with those that it marks in it; and in those the CUDA calls. Each stream has a lane with what ran
// there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "baselines/traces/trace.h"
#include "bench/profiling/profiler.h"

namespace fusegate::bench {

// The GPU's SM clock at a time of the profiler's clock.
struct ClockMark {
  std::int64_t at = 0;
  double mhz = 0;
};

struct TracedBenchmark {
  std::string name;
  int first_step = 0;  // the number of its schedule's first step in the whole trace
  std::vector<RecordedStep> steps{};
  std::vector<ClockMark> clocks{};

  int step_number(const RecordedStep& step) const { return first_step + step.step; }
};

// Times count from the first event. Correlations are numbered anew: a profiler that is attached
// again may repeat its own. Calls outside of the steps are left out. recorder: the thread that
// recorded, by the system's numbers.
baselines::Trace assemble_trace(const std::vector<TracedBenchmark>& benchmarks,
                                const baselines::TraceTrack& recorder);

}  // namespace fusegate::bench
