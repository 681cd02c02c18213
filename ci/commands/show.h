// `fusegate show`: a run's figures as a table.
#pragma once

#include <filesystem>
#include <vector>

#include "ci/console/console.h"

namespace fusegate::ci {

struct ShowRequest {
  std::vector<std::filesystem::path> paths;
};

baselines::ExitCode show_command(const ShowRequest& request, Console& console);

}  // namespace fusegate::ci
