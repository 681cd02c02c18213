// Verdicts are computed here and nowhere else.
#pragma once

#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

// Every benchmark of either run, sorted by name. Throws InputError for a rule that is none: a
// negative effect, a rate or confidence outside of (0, 1).
//
// Outliers among the processes of either run are set aside first (outlier_processes.h).
//
// A benchmark whose two sides have identical code (call_identity.h) is identical, whatever its
// times.
//
// Of each process only its fast half's mean enters (statistics.h). Per benchmark the candidate's
// mean logarithm less the baseline's is tested against log(1 + tested_effect) (TREAT) with a
// variance moderated over the suite (moderated_contrasts.h). Of two runs of one session, measured
// side by side, that is time, block by block where blocks matter (moderated_contrasts.h). Against
// stored figures it is time at equal clock (clock_share.h), and both time and cycles must show it
// (both_show()). Where either side has no cycles, time decides alone; where both were measured in
// the sustained regime, cycles do. Benjamini-Hochberg runs over the benchmarks that a change can
// have slowed, once for slower and once for faster. Where a side has a single process the verdict
// is inconclusive, whatever the estimate.
//
// Where enough rows have identical code, they show what the machine did: that is taken out of the
// others' effects, and its scatter adds to their noise (null_distribution.h). Where too few did,
// what cards differ by adds to the noise, as the runs of several cards show it (card_variances.h)
// or else the rule (card_differences.h), and where controls or identical code moved, an effect must
// exceed their movement too (drift.h). A control is never a regression. Where the candidate has
// processes that were measured afresh because the benchmark was not decided, these alone must
// show a change again, at 5 %, for it to be called; with fewer than four processes on a side it is
// not called without fresh ones of that side. Two clusters of a bimodal benchmark are compared like
// with like, or decide nothing (modes.h). Of stored figures of the same card a change must exceed
// what most rows of its kind share, unless identical code shows what that is (common_movement.h).
std::vector<Verdict> judge(const Run& baseline, const Run& candidate, const Rule& rule);

}  // namespace fusegate::baselines
