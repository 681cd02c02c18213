// What the gate found, as sections of a report: verdicts, families, what changed in the kernels,
// what is not launched as declared, and what crept.
#pragma once

#include <string>
#include <vector>

#include "ci/document/document.h"
#include "ci/gate/gate_facts.h"

namespace fusegate::ci {

// The verdicts' counts: "2 regressions, 40 unchanged".
std::string verdict_counts(const std::vector<baselines::Verdict>& verdicts);

std::vector<Section> verdict_sections(const GateFacts& facts);

// A line for each part of what a benchmark declares and does not launch so.
Section memory_section(const std::vector<baselines::MemoryGrowth>& growth);
Section unmet_section(const std::vector<baselines::UnmetExpectation>& unmet);

}  // namespace fusegate::ci
