// Where a call's time on the GPU goes: each stage's kernels and memory operations, and the gaps in
// which nothing ran. It comes from a profile, which is of one call with a profiler attached. So it
// gives shares; the samples give a call's time.
#pragma once

#include <string>
#include <vector>

#include "baselines/launches/call_profile.h"

namespace fusegate::baselines {

struct StageTime {
  std::string stage;  // empty: what ran outside of any
  int kernels = 0;
  int memory_operations = 0;
  double sum_ns = 0;  // of all durations
  // In which nothing that started earlier still ran. A kernel that is launched early lies on the
  // GPU and waits for the one before it: its duration is longer than its work.
  double own_ns = 0;
};

struct StageTimes {
  std::vector<StageTime> stages;  // in order of their first start
  double span_ns = 0;             // from the first start to the last end
  double gap_ns = 0;              // of that, nothing ran; with all stages' own_ns it is the span
  int processes = 1;              // that these are the medians of

  // Of the span; 0 where nothing ran.
  double share(double time_ns) const { return span_ns > 0 ? time_ns / span_ns : 0; }
};

StageTimes stage_times(const CallProfile& profile);

// Medians over the calls with the most common set of stages, kernels and memory operations; of
// equally common sets, the first. Needs one at least. The parts' medians need not add up to the
// span's.
StageTimes median_stage_times(const std::vector<StageTimes>& processes);

}  // namespace fusegate::baselines
