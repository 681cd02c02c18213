// A trace's summary as the table that people know from torch.profiler, and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/traces/summary.h"
#include "ci/console/table.h"

namespace fusegate::ci {

// What rows can be sorted by: "cuda", "self-cuda", ..., "name".
std::vector<std::string> trace_orders();
// By one of these. The largest first, names in order of the alphabet; among equals, by CPU time,
// then as they were.
void sort_rows(std::vector<baselines::TraceRow>& rows, std::string_view order);

// name_width: longer names lose their middle; 0 keeps them whole.
std::string short_name(const std::string& name, std::size_t name_width);

Table trace_table(const baselines::TraceSummary& summary, std::size_t name_width);

// All rows. Times in ns; shares are of cuda_ns, null where that is 0.
nlohmann::json trace_json(const baselines::TraceSummary& summary);

// What a reader should doubt, a line each: what of the file could not be read.
std::vector<std::string> loss_notes(const baselines::TraceLosses& lost);
// These, and work whose duration is wrong.
std::vector<std::string> trace_notes(const baselines::TraceSummary& summary);

}  // namespace fusegate::ci
