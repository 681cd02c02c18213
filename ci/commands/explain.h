// `fusegate explain`: why one benchmark's time changed, kernel by kernel.
#pragma once

#include <filesystem>
#include <string>

#include "ci/console/console.h"
#include "ci/judging/judging.h"

namespace fusegate::ci {

struct ExplainRequest {
  std::filesystem::path baseline;
  std::filesystem::path candidate;
  std::string benchmark;
  JudgingRequest rule;  // smallest effect and false discovery rate; its paths are not looked at
};

// The whole suite is judged, as the gate does it, and one benchmark is told of. Environments may
// differ, as a changed library is what is to be explained; what differs is printed.
// Throws InputError where neither run has the benchmark, naming those that are near.
// Returns 1 for a regression, 2 where the benchmark could not be compared, else 0.
baselines::ExitCode explain_command(const ExplainRequest& request, Console& console);

}  // namespace fusegate::ci
