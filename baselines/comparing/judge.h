// The one place where a verdict is computed.
#pragma once

#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

// Every benchmark of either run, sorted by name. Throws InputError for a rule that is none: a
// negative effect, a rate or confidence outside of (0, 1).
//
// Of each invocation only its fast half's mean enters (statistics.h). Per benchmark the candidate's
// mean logarithm of time at equal clock (clock_share.h) less the baseline's is tested against
// log(1 + min_effect) (TREAT) with a variance moderated over the suite (moderated_contrasts.h), and
// both time and cycles must show it (both_show()). Where either side has no cycles, time decides
// alone; where both were measured in the sustained regime, cycles do. Benjamini-Hochberg runs over
// the suite, once for slower and once for faster. Where a side has a single invocation the verdict
// is inconclusive, whatever the estimate.
//
// Runs of one session are compared block by block (two_sides.h). Between two cards the difference
// of cards adds to the noise (between_cards.h). Where controls moved, the effect must exceed their
// movement too (drift.h), and a control itself is never a regression. Where the candidate has
// invocations that were measured afresh because the benchmark was not decided, these alone must
// show a slowdown again, at 5 %, for a regression to be called.
std::vector<Verdict> judge(const Run& baseline, const Run& candidate, const Rule& rule);

}  // namespace fusegate::baselines
