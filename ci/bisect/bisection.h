// The search for the commit that changed a benchmark's time: first the good and the bad commit side
// by side, then commits between them, until neighbours differ.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "ci/bisect/commit_duet.h"
#include "ci/bisect/steps.h"

namespace fusegate::ci {

struct BisectionRequest {
  BuildRequest build{};
  std::string good{};  // revisions
  std::string bad{};
  SideBySideRequest measuring{};
  bool fresh = false;  // start anew
};

// A commit that changed the time, or several of which none but the last could be measured.
struct FoundChange {
  std::size_t before = 0;  // of the line
  std::size_t after = 0;
  CommitDuet duet{};  // of the two

  bool is_one_commit() const { return after == before + 1; }
};

struct BisectionResult {
  std::vector<Commit> line{};  // from good to bad
  std::vector<Step> steps{};
  std::vector<LineCommit> known{};    // by the steps
  std::filesystem::path folder{};     // of the steps and their runs
  std::size_t measured_steps = 0;     // besides the first, of the two ends
  std::optional<CommitDuet> whole{};  // bad over good; none where somebody interrupted
  std::vector<FoundChange> found{};   // in the line's order; empty where the ends do not differ
  bool interrupted = false;
};

// Keeps its steps in .fusegate/bisect of the checkout, and goes on with those that are there.
// Throws InputError: what is no line of commits, ends that do not build, a benchmark that neither
// has, what cannot be judged.
BisectionResult bisect(const BisectionRequest& request, Console& console);

}  // namespace fusegate::ci
