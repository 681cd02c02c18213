// A stored baseline and its replay: its own program, measured again here and now beside the
// candidate. That separates three effects: from stored to replayed is what card, driver and
// libraries did, from replayed to candidate is what the code did, and both together lead from
// stored to candidate. The gate judges the second; the first is shown and judges nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/gating/gate.h"
#include "baselines/record/baseline.h"

namespace fusegate::ci {

struct ReplayedRow {
  // From stored to replayed. Its kind and interval say how sure that is.
  baselines::Verdict machine{};
  double code = 0;     // from replayed to candidate, in time; NaN where there is none
  double product = 0;  // from stored to candidate, in time; likewise
  // The same program launches other code here: a library picked another kernel, say. Never where
  // either side has no identity.
  bool other_work = false;
  std::optional<baselines::KernelDiff> diff{};

  // For certain and by more than matters, by the clock too, or by doing other work.
  bool has_moved() const;
};

struct Replay {
  baselines::Run stored{};
  std::vector<baselines::EnvironmentDifference> differences{};  // the replayed as the candidate
  bool other_card = false;
  // What both have. What moved comes first, and there the largest change of time.
  std::vector<ReplayedRow> rows{};
  std::vector<std::string> not_replayed{};  // benchmarks that only the stored baseline has
};

// result: of gating the candidate by the replayed.
Replay replay_of(baselines::Run stored, const baselines::Run& replayed,
                 const baselines::GateResult& result, const baselines::Rule& rule);

}  // namespace fusegate::ci
