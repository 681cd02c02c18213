// `fusegate trace-diff`: two traces side by side.
#pragma once

#include <filesystem>
#include <optional>

#include "ci/console/console.h"

namespace fusegate::ci {

struct TraceDiffRequest {
  std::filesystem::path a{};
  std::filesystem::path b{};
  double min_difference = 0.05;
  std::size_t limit = 0;        // of each table's rows; 0: all
  std::size_t name_width = 55;  // 0: whole names
  std::optional<std::filesystem::path> json{};
};

// 0 however much differs: a trace is one look and no measurement.
baselines::ExitCode trace_diff_command(const TraceDiffRequest& request, Console& console);

}  // namespace fusegate::ci
