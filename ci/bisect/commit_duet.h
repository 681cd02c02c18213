// Programs of commits measured side by side, of one benchmark and its controls, and judged as the
// gate judges them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ci/bisect/commit_program.h"
#include "ci/bisect/line.h"
#include "ci/gate/judging.h"
#include "ci/run/measuring_request.h"

namespace fusegate::ci {

// How one benchmark is measured and judged.
struct SideBySideRequest {
  std::string benchmark{};
  MeasuringOptions measuring{.suite = "nightly", .budget_s = 600};
  ProcessCounts processes{};
  JudgingRequest judging{};  // the rule and controls; its paths are set here
  std::map<std::string, std::string> environment{};  // of the programs, besides ours
};

struct CommitRun {
  std::string program;
  std::filesystem::path folder;  // gets its run
};

// In blocks of all of them, until no two that follow each other are left undecided, or as many
// processes as are allowed. Of what runs identical code nothing is measured. False where somebody
// interrupted. Throws as measure_run(), and where no program has the benchmark, naming near ones.
bool measure_side_by_side(const SideBySideRequest& request, const std::vector<CommitRun>& runs,
                          Console& console);

// What the gate finds of two of those runs. Environments may differ: a library that a commit brings
// is a part of it.
struct CommitDuet {
  GateFacts facts{};
  baselines::Verdict verdict{};  // of the benchmark
  bool interrupted = false;      // then there is neither

  bool differs() const;  // slower, or faster
};

// Throws InputError where the gate cannot judge.
CommitDuet judged_duet(const SideBySideRequest& request, const std::filesystem::path& base,
                       const std::filesystem::path& head);

struct CommitDuetRequest {
  BuildRequest build{};
  std::string good{};  // revisions; neither need be an ancestor of the other
  std::string bad{};
  SideBySideRequest measuring{};
  std::filesystem::path folder{};  // gets a run folder a commit; empty: .fusegate/runs/TIME
};

// Builds two commits, measures them side by side, and judges the benchmark: its effect, interval
// and verdict, of the bad commit over the good one. Throws InputError also for unknown revisions
// and for what does not build.
CommitDuet duet_of_commits(const CommitDuetRequest& request, Console& console);

}  // namespace fusegate::ci
