// The rounds beyond the minimum: where a process was an outlier, and where an interim analysis
// leaves benchmarks undecided or suspicious.
#pragma once

#include "ci/run/rounds.h"

namespace fusegate::ci {

// Names processes in which a whole suite went otherwise than in the others
// (baselines/comparing/outlier_processes.h), where they were not named before, on console.err and
// in the run folders. Whether there are any.
bool name_outliers(Session& session);

// While new ones show up: one more process of each program, twice at most.
void repeat_outliers(Session& session, Rounds& rounds);

// An interim analysis, one more round of what extension_plan.h then wants, and so on until it wants
// nothing or the budget has no room.
void extend(Session& session, Rounds& rounds, const InterimAnalysis& interim_analysis);

}  // namespace fusegate::ci
