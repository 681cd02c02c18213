// From measured A/A arms to findings: compares the arms and adds the comparison to the history.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "ci/console/console.h"
#include "ci/gate/aa_findings.h"
#include "ci/gate/judging.h"

namespace fusegate::ci {

struct AaRecordingRequest {
  std::vector<std::filesystem::path> a;  // run folders or run files
  std::vector<std::filesystem::path> b;
  JudgingRequest judging;                        // the rule that the gate goes by
  std::optional<std::filesystem::path> history;  // nothing: under the git checkout, by device
};

// Before anything is measured: throws InputError where a history that was named cannot be read.
void check_aa_history(const std::optional<std::filesystem::path>& history);

// Nothing where the arms cannot be compared or the history cannot be kept, and console.err says
// why: the measurement itself is none the worse for it.
std::optional<AaFindings> record_aa(const AaRecordingRequest& request, Console& console);

}  // namespace fusegate::ci
