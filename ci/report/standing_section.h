// How implementations stand, as a section of a report.
#pragma once

#include "ci/figures/standing.h"
#include "ci/report/document.h"

namespace fusegate::ci {

// A row a problem: our best against the best peer and against its yardstick. Columns that nothing
// is known for are left out: those of peers where no run of peers was given, of energies
// where neither was measured with --energy-ms, those of yardsticks where no rate was measured.
Table best_table(const OperationStanding& operation, bool with_peers);

// A row a problem, a column an implementation: ours, then peers. "failed" where it failed, "-"
// where it was not measured.
Table times_table(const OperationStanding& operation);

Section standing_section(const Standings& standings);

}  // namespace fusegate::ci
