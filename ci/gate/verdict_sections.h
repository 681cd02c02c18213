// What the gate found, as sections of a report: verdicts, families, what kernels tell, what is
// not launched as declared, and what crept.
#pragma once

#include <string>
#include <vector>

#include "baselines/gating/gate.h"
#include "ci/document/document.h"

namespace fusegate::ci {

// The verdicts' counts: "2 regressions, 40 unchanged".
std::string verdict_counts(const baselines::GateResult& result);

std::vector<Section> verdict_sections(const baselines::GateResult& result,
                                      const baselines::GateOptions& options);

// A row for each part of what a benchmark declares and does not launch so.
Section unmet_section(const std::vector<baselines::UnmetExpectation>& unmet);

}  // namespace fusegate::ci
