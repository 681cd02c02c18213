// Checks a call's launches against its implementation's declaration
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
  // Nothing where calls could not be recorded.
  std::optional<std::vector<std::string>> calls = {};
};

// What ran, by stage. stages: the prepared kernel's.
SeenTrace seen_trace(const baselines::CallProfile& profile,
                     const std::vector<kernels::Stage>& stages);

// Nothing where the implementation declares nothing. Of several declared expectations the one with
// the trace's stages counts, else the first. Throws std::invalid_argument for a bad pattern.
std::optional<baselines::TraceExpectation> check_trace(
    const kernels::Implementation& implementation, const SeenTrace& seen);

}  // namespace fusegate::bench
