// Verdicts are computed here and nowhere else.
#pragma once

#include <string>
#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

// Every benchmark of either run, sorted by name. Throws InputError for a rule that is none: a
// negative effect, a rate or confidence outside of (0, 1).
//
// Outliers among the processes of either run are set aside first (outlier_processes.h). Of the
// others only the fast half's mean enters (statistics.h): as time of two runs of one session,
// measured side by side; against stored figures as time at equal clock (clock_share.h), and both
// time and cycles must show it (both_show()); as cycles in the sustained regime. Per benchmark the
// candidate's mean logarithm less the baseline's is tested against log(1 + tested_effect) (TREAT)
// with a variance moderated over the suite (moderated_contrasts.h), once what the machine did is
// taken out (machine_effects.h) and beyond what controls moved by (drift.h). Benjamini-Hochberg
// runs over the benchmarks that a change can have slowed, once for slower and once for faster. The
// verdict is the first check that applies (decision.cc).
//
// settings: what benchmarks have apart from the rule; each verdict keeps its own. filter: a pattern
// of those that are judged, which alone are tested; the others show what the machine did. "": all.
std::vector<Verdict> judge(const Run& baseline, const Run& candidate, const Rule& rule,
                           const Settings& settings = {}, const std::string& filter = "");

}  // namespace fusegate::baselines
