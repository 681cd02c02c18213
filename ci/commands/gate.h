// `fusegate gate`: compares a run with a baseline and ends with the verdict's exit code.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ci/console/console.h"
#include "ci/judging/judging.h"
#include "ci/report/report.h"

namespace fusegate::ci {

struct GateRequest {
  JudgingRequest judging;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> markdown;
};

// Where it cannot judge, the files are written too, with exit code 2 and the reason: what a former
// gate left there must not pass for this one's verdict. The exception then goes on. What A/A arms
// the candidate's run folder has a record of is told beside the verdict and does not enter it.
baselines::ExitCode gate_command(const GateRequest& request, Console& console);

// The parts of it that `run` and `duet` need.
//
// The candidate and its judgement; no sweeps. Throws InputError, also where no baseline is stored.
Report judged_report(const JudgingRequest& request);
// Says on console.err what cannot be written: the problem at hand matters more.
void write_gate_failure(const GateRequest& request, const std::string& problem, Console& console);

}  // namespace fusegate::ci
