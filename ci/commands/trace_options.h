// The options of `fusegate trace-table`, `trace-check` and `trace-diff`.
#pragma once

#include <CLI/CLI.hpp>

#include "ci/commands/trace_check.h"
#include "ci/commands/trace_diff.h"
#include "ci/commands/trace_table.h"

namespace fusegate::ci {

void add_trace_table_options(CLI::App& app, TraceTableRequest& request);
void add_trace_check_options(CLI::App& app, TraceCheckRequest& request);
void add_trace_diff_options(CLI::App& app, TraceDiffRequest& request);

}  // namespace fusegate::ci
