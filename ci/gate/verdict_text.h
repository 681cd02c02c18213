// Why a verdict is what it is, and verdicts in the order in which people want them.
#pragma once

#include <string>
#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"

namespace fusegate::ci {

// What was found, and for an inconclusive benchmark what to do next: "1.20 % slower in 3 processes
// per side; not yet confirmed. Measure at least 4, or allow more with --max-processes". Without a
// full stop at the end. rule: the one that it was judged by.
std::string reason_text(const baselines::Verdict& verdict, const baselines::Rule& rule);

// Of effects where the clock moved: whether cycles show it and time at equal clock does not, as
// nothing showed how far time follows the clock.
bool cycles_show_clock(const baselines::Estimates& estimates);

struct VerdictGroup {
  baselines::VerdictKind kind;
  std::vector<const baselines::Verdict*> verdicts;  // the largest effect first, then by name
};

// Every kind that occurs: what failed the gate first, what is unchanged last. Points into the
// verdicts.
std::vector<VerdictGroup> group_verdicts(const std::vector<baselines::Verdict>& verdicts);

// "2 regressions", "1 improvement", "40 unchanged".
std::string count_text(std::size_t count, baselines::VerdictKind kind);

}  // namespace fusegate::ci
