// `fusegate show`: a run's figures as a table.
#pragma once

#include <filesystem>
#include <vector>

#include "ci/console/console.h"

namespace fusegate {

struct ShowRequest {
  std::vector<std::filesystem::path> paths;
};

ExitCode show_command(const ShowRequest& request, Console& console);

}  // namespace fusegate
