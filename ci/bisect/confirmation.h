// Changes that a history found, measured once more before they are reported: the commits around each
// are measured side by side, on another card where one is free.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "baselines/history/history.h"
#include "ci/bisect/commit_duet.h"
#include "ci/console/console.h"

namespace fusegate::ci {

struct ConfirmationRequest {
  std::filesystem::path database{};
  // Of change_id(). Empty: all that may be code's and were neither decided nor triaged.
  std::vector<std::string> ids{};
  std::size_t most = 3;  // without ids; the newest first
  BuildRequest build{};
  SideBySideRequest measuring{};  // of each; the benchmark is set here
};

// What asks the machine; tests have their own.
struct ConfirmationTools {
  std::function<CommitDuet(const CommitDuetRequest&)> duet;
  // The UUID of a card on which nothing runs, other than that one; "" where there is none.
  std::function<std::string(const std::string& other_than)> free_card;
};
ConfirmationTools confirmation_tools(Console& console);

struct ConfirmationResult {
  std::size_t decided = 0;
  std::size_t undecided = 0;  // these stay "asked", as does what cannot be built
  bool interrupted = false;
};

// Of a family, the benchmark whose time moved most is measured. Confirmed is a change that is seen
// again in its direction, refuted one of which the duet is certain that it is not there. Each
// result is in the database before the next is measured. Throws InputError for an id that the
// history does not have, and as History does.
ConfirmationResult confirm_changes(const ConfirmationRequest& request,
                                   const ConfirmationTools& tools, Console& console);

}  // namespace fusegate::ci
