// All that the gate found of a run. Its texts, its document and its JSON are written from this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/gating/gate.h"
#include "baselines/record/baseline.h"
#include "ci/gate/aa_findings.h"
#include "ci/gate/replay.h"

namespace fusegate::ci {

struct GateFacts {
  baselines::Run candidate{};
  // Nothing: the run is shown, and compared with nothing. A replay has the acceptance and the
  // anchor of the stored baseline.
  std::optional<baselines::LoadedBaseline> baseline{};
  baselines::GateOptions options{};
  baselines::GateResult result{};
  std::optional<Replay> replay{};    // where the baseline is one
  std::optional<AaFindings> aa{};    // as the candidate's folder records them; they decide nothing
  std::vector<std::string> notes{};  // what is to be said besides
};

// Whose figures stand in for those that the candidate lacks: the baseline, and the stored one that
// it replays.
inline std::vector<const baselines::Run*> earlier_runs(const GateFacts& facts) {
  std::vector<const baselines::Run*> runs;
  if (facts.baseline) runs.push_back(&facts.baseline->run);
  if (facts.replay) runs.push_back(&facts.replay->stored);
  return runs;
}

}  // namespace fusegate::ci
