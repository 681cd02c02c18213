// `fusegate accept`: makes a run the baseline of its device and suite, and the first one also the
// anchor that creep is told by.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ci/console/console.h"

namespace fusegate::ci {

struct AcceptRequest {
  std::vector<std::filesystem::path> runs;
  std::string reason;
  std::string who;                            // empty: git's user, else $USER
  std::string suite;                          // empty: the one that the run names
  std::filesystem::path store;                // where it goes
  std::vector<std::filesystem::path> stores;  // where if_missing looks besides
  bool if_missing = false;                    // do nothing where this environment has a baseline
  bool replace_anchor = false;                // else an anchor that is there stays
  bool force = false;                         // whatever reasons_not_to_accept says
};

// Prints the baseline's path behind "recorded" or, with if_missing, "kept", and whether the run
// became the anchor too. Throws InputError with every reason not to accept the run.
baselines::ExitCode accept_command(const AcceptRequest& request, Console& console);

}  // namespace fusegate::ci
