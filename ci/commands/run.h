// `fusegate run`: measures a suite by fresh processes of one benchmark program, or of several whose
// invocations are interleaved, into a run folder each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/console/console.h"
#include "ci/judging/judging.h"
#include "ci/measuring/peers_arm.h"

namespace fusegate::ci {

struct RunRequest {
  std::string suite;
  int invocations = 5;                     // of each program: the minimum
  std::optional<int> max_invocations;      // nothing: the minimum, and no extension
  std::vector<std::filesystem::path> out;  // a folder a program, or several for one program
  std::vector<std::string> programs;       // empty: the benchmark program beside this one
  std::vector<std::string> flags;          // passed on to the benchmark program
  double timeout_s = 1800;                 // of one invocation
  std::optional<double> budget_s;          // see measuring_run.h
  std::optional<std::uint64_t> seed;       // random where there is none
  bool append = false;                     // add to folders that already hold invocations
  bool fresh_choices = false;              // not the baseline's, see keep_choices_environment()
  // Deal the invocations to two A/A arms and add what they show to the history.
  bool aa = false;
  std::optional<std::filesystem::path> aa_history;
  bool peers = false;  // measure peers after every invocation, of one --out folder
  std::optional<std::filesystem::path> peers_out;  // by default the --out folder's name, "-peers"
  PeersProgram peers_program{};
  JudgingRequest judging;  // what extensions are decided by; the candidate is set here
};

// 0 where every invocation ended well, 2 where one did not or the run was interrupted; what was
// measured stays in the folders. Throws InputError where nothing can be measured at all.
baselines::ExitCode run_command(const RunRequest& request, Console& console);

}  // namespace fusegate::ci
