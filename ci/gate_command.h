// `fusegate gate`: compares a run with a baseline and ends with the verdict's exit code.
#pragma once

#include <filesystem>
#include <optional>

#include "ci/console.h"
#include "ci/judging.h"

namespace fusegate {

struct GateRequest {
  JudgingRequest judging;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> markdown;
};

// Where it cannot judge, the files are written too, with exit code 2 and the reason: what a former
// gate left there must not pass for this one's verdict. The exception then goes on.
ExitCode gate_command(const GateRequest& request, Console& console);

}  // namespace fusegate
