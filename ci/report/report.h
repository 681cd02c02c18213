// Everything that a page or a comment says about a run, as one document. A report formats and never
// decides: verdicts come from the gate, everything else from ci/sweep.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ci/document/document.h"
#include "ci/gate/gate_document.h"
#include "ci/gate/gate_facts.h"
#include "ci/peers/peer_comparison.h"
#include "ci/sweep/shape_sweep.h"

namespace fusegate::ci {

struct Report {
  std::string title;
  GateFacts gate{};                  // of the run, and what it is compared with
  std::vector<ShapeSweep> sweeps{};  // empty where they are not to be shown
  // Nothing: the verdicts alone are to be shown, without the candidate's own figures.
  std::optional<PeerComparison> peer_comparison{};
};

// "cuda 13.0, device NVIDIA H200, driver 580.1"
std::string environment_text(const baselines::Environment& environment);

Document report_document(const Report& report);

}  // namespace fusegate::ci
