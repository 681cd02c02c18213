// Words of the pages: nights, change points, addresses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/history/change_point.h"
#include "baselines/history/night.h"
#include "ci/console/table.h"

namespace fusegate::ci {

// "2026-03-04", in UTC.
std::string night_date(const baselines::Night& night);

// The index of that session; nothing where no night has it.
std::optional<std::size_t> night_of_session(const std::vector<baselines::Night>& nights,
                                            const std::string& session);

// "b/geglu-fused-bf16-batch-8-1a2b3c4d5e6f7081.html": of a name always the same, and of two names
// never.
std::string page_of_benchmark(std::string_view name);

bool concerns(const baselines::ChangePoint& change, std::string_view benchmark);
// Of a driver, a card or a method, whichever benchmarks it moved.
bool is_of_all(const baselines::ChangePoint& change);

// Their cells: class, effect, interval, what confirmed it, what triage said.
std::string confirmation_text(const baselines::ChangePoint& change);
Cell triage_cell(const baselines::ChangePoint& change);
Cell change_cell(double effect);  // toned by its sign

// "12 alarms; 8 triaged, 2 of them false (25.0 %)"
std::string alarms_text(const std::vector<baselines::ChangePoint>& changes);

// One table for all pages, the newest first. prefix: to where pages of benchmarks lie.
Table changes_table(const std::vector<baselines::ChangePoint>& changes,
                    const std::vector<baselines::Night>& nights, const std::string& prefix);

}  // namespace fusegate::ci
