// A profiler's records of one call, in any order, and how they become a profile. Independent of the
// profiler (profiler.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "baselines/launches/call_profile.h"
#include "baselines/traces/trace.h"

namespace fusegate::bench {

// Of the host's tracks.
inline constexpr const char* kProgramName = "fusegate_bench";

// That a call was made within a part: a stage's launch, or a stage that the launch marks.
struct PartActivity {
  std::int64_t correlation = 0;
  std::size_t part = 0;
};

// On the host. All times are ns of the profiler's clock.
struct HostSpan {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

// When the host launched a part.
struct PartSpan {
  std::size_t part = 0;
  HostSpan span;
};

struct Activity {
  std::int64_t began = 0;     // before the first part was launched
  std::int64_t launched = 0;  // after the last one was: what the host calls then is not the call's
  std::int64_t ended = 0;     // when the device was through
  // The parts' names: the call's stages, then others that launches marked, by first appearance.
  std::vector<std::string> stages{};
  std::vector<PartSpan> spans{};       // an enclosing one before those in it
  baselines::Trace trace{};            // calls of CUDA, kernels and memory operations
  std::vector<PartActivity> parts{};
};

// Events joined by correlation, in order of start, and times since the call began.
// What no part launched has no stage.
baselines::CallProfile assemble_profile(const Activity& activity);

}  // namespace fusegate::bench
