// Everything that a page or a comment says about a run, as one document. A report formats and never
// decides: verdicts come from the gate, everything else from ci/sweep.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ci/document/document.h"
#include "ci/judging/judging.h"
#include "ci/sweep/crossover.h"
#include "ci/sweep/peer_comparison.h"
#include "ci/sweep/shape_sweep.h"

namespace fusegate::ci {

// GitHub refuses comments above 65,536 characters.
inline constexpr std::size_t kMarkdownLimit = 60'000;

struct Report {
  std::string title;
  baselines::Run candidate;
  std::optional<Judgement> judgement;  // nothing: the run is shown and compared with nothing
  std::vector<ShapeSweep> sweeps;      // empty where they are not to be shown
  std::vector<Crossover> crossovers;   // likewise
  // Nothing: the verdicts alone are to be shown, without the candidate's own figures.
  std::optional<PeerComparison> peer_comparison;
  std::vector<std::string> notes{};  // what is to be said besides
};

// "5 invocations on NVIDIA H200, commit 0123456789ab with uncommitted changes,
// 2026-11-21T02:53:32+00:00"
std::string describe(const baselines::Run& run);

// "cuda 13.0, device NVIDIA H200, driver 580.1"
std::string environment_text(const baselines::Environment& environment);

Document report_document(const Report& report);

// For a comparison that ended before any verdict.
Document failure_document(std::string_view title, std::string_view problem);

}  // namespace fusegate::ci
