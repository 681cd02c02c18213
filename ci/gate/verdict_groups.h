// Verdicts in the order in which people want them: what failed the gate first, what is unchanged
// last.
#pragma once

#include <string>
#include <vector>

#include "baselines/gating/gate.h"

namespace fusegate::ci {

struct VerdictGroup {
  baselines::VerdictKind kind;
  std::vector<const baselines::Verdict*> verdicts;  // the largest effect first, then by name
};

// Every kind that occurs. Points into the result.
std::vector<VerdictGroup> group_verdicts(const baselines::GateResult& result);

// "2 regressions", "1 improvement", "40 unchanged".
std::string count_text(std::size_t count, baselines::VerdictKind kind);

}  // namespace fusegate::ci
