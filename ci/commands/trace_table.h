// `fusegate trace-table`: what a trace holds, by name.
#pragma once

#include <filesystem>
#include <optional>

#include "ci/console/console.h"
#include "ci/traces/summary_table.h"

namespace fusegate::ci {

struct TraceTableRequest {
  std::filesystem::path trace{};
  TraceOrder order = TraceOrder::kCuda;
  std::size_t limit = 0;        // 0: all rows
  std::size_t name_width = 55;  // as torch cuts them; 0: whole names
  std::optional<std::filesystem::path> json{};
};

baselines::ExitCode trace_table_command(const TraceTableRequest& request, Console& console);

}  // namespace fusegate::ci
