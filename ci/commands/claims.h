// `fusegate claims`: the statements of the series that this project follows, one by one: what was
// published, what was seen on the card that a run is of, and whether it holds.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "ci/console/console.h"

namespace fusegate::ci {

struct ClaimsRequest {
  std::vector<std::filesystem::path> candidate;      // run folders or run files, together one run
  std::vector<std::filesystem::path> peers{};        // likewise; empty where there are none
  std::optional<std::filesystem::path> traces{};     // folder of bench/peers/record_trace.py
  std::optional<std::filesystem::path> published{};  // nothing: the store's, where there is one
  std::vector<std::filesystem::path> stores{};
  std::optional<std::filesystem::path> out{};  // nothing: the page goes to out
  bool allow_environment_differences = false;  // between ours, the peers' and the traces'
};

// 0 where the page was written, whatever holds. Throws InputError.
baselines::ExitCode claims_command(const ClaimsRequest& request, Console& console);

}  // namespace fusegate::ci
