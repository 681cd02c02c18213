// `fusegate trace-check`: a trace against what its steps should contain.
#pragma once

#include <filesystem>

#include "ci/console/console.h"

namespace fusegate::ci {

struct TraceCheckRequest {
  std::filesystem::path trace{};
  std::filesystem::path expectation{};  // baselines/traces/step_expectation.h
};

// kRegression where anything is not as expected.
baselines::ExitCode trace_check_command(const TraceCheckRequest& request, Console& console);

}  // namespace fusegate::ci
