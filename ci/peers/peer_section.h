// The peer comparison as a section of a report.
#pragma once

#include "ci/document/document.h"
#include "ci/peers/peer_comparison.h"

namespace fusegate::ci {

// A row a problem: our best beside the best peer and its roofline time. A column without a known
// value is left out: peers where no run of peers was given, energies where neither side was
// measured with --energy-ms, roofline times where a rate was not measured.
Table best_table(const OperationComparison& operation, bool with_peers);

// A row a problem, a column an implementation: ours, then peers. "failed" where it failed, "-"
// where it was not measured.
Table times_table(const OperationComparison& operation);

Section peer_section(const PeerComparison& peer_comparison);

}  // namespace fusegate::ci
