// What the gate found, as sections of a report: verdicts, families, what kernels tell, launches
// other than declared, and what crept.
#pragma once

#include <string>
#include <vector>

#include "baselines/comparing/gate.h"
#include "ci/report/document.h"

namespace fusegate::ci {

// The verdicts' counts: "2 regressions, 40 unchanged".
std::string verdict_counts(const baselines::GateResult& result);

std::vector<Section> verdict_sections(const baselines::GateResult& result,
                                      const baselines::GateOptions& options);

// Of benchmarks that launch other than they declare, a row for each such part.
Section unmet_section(const std::vector<baselines::UnmetExpectation>& unmet);

}  // namespace fusegate::ci
