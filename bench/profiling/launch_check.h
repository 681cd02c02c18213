// Holds a call's launches against what its implementation declares
// (kernels/contract/expectation.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/launches/call_profile.h"
#include "baselines/launches/expectation.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {

// What was seen of one call.
struct SeenStage {
  std::string name;
  std::string choice = {};
  std::vector<std::string> kernels = {};
  int memory_operations = 0;
};

struct SeenTrace {
  std::vector<SeenStage> stages;  // as the prepared kernel has them
  // What ran outside of any stage.
  std::vector<std::string> stray_kernels = {};
  int stray_memory_operations = 0;
  // Nothing where whoever looked could not see calls.
  std::optional<std::vector<std::string>> calls = {};
};

// What ran, by the stages that it ran in; stages: as the prepared kernel has them.
SeenTrace seen_trace(const baselines::CallProfile& profile,
                     const std::vector<kernels::Stage>& stages);

// Nothing where the implementation declares nothing. An implementation that is composed in several
// ways declares several expectations: the one that has the trace's stages counts, or the first
// where none has. Throws std::invalid_argument for a pattern that is none.
std::optional<baselines::TraceExpectation> check_trace(
    const kernels::Implementation& implementation, const SeenTrace& seen);

}  // namespace fusegate::bench
