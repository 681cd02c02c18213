// `fusegate duet`: measures two builds of the benchmark program side by side and gates the one by
// the other. It needs no stored baseline: what differs from day to day or from card to card does
// not differ within a round.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/console/console.h"
#include "ci/judging/judging.h"

namespace fusegate::ci {

struct DuetRequest {
  std::string base;  // programs
  std::string head;
  std::string suite;
  std::filesystem::path out;           // gets base, base_again and head; empty: .fusegate/runs/TIME
  int invocations = 5;                 // of each program: the minimum
  std::optional<int> max_invocations;  // nothing: three times the minimum
  double timeout_s = 1800;             // of one invocation
  double budget_s = 600;               // see measuring_run.h
  std::optional<std::uint64_t> seed;   // random where there is none
  std::vector<std::string> flags;      // passed on to the benchmark programs
  bool fresh_choices = false;          // not those of a stored baseline, for base and head alike
  // Measure base once more, as an A/A arm, and add what it shows to the history.
  bool aa = true;
  std::optional<std::filesystem::path> aa_history;
  JudgingRequest judging;  // the rule; both runs are set here
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> markdown;
  std::optional<std::filesystem::path> html;
};

// The gate's exit code; 2 instead of 0 where an invocation did not end well, and 2 where the run
// was interrupted. What was measured stays in the folder. Throws InputError as run and gate do; the
// files asked for then say that nothing was judged.
baselines::ExitCode duet_command(const DuetRequest& request, Console& console);

}  // namespace fusegate::ci
