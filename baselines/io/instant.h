// Points in time as JSON files have them.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace fusegate::baselines {

// ISO 8601 to the second, such as "2026-11-21T02:53:32+01:00" or with "Z"; a fraction of a second
// is passed over, and without a zone it is UTC. Nothing for any other text.
std::optional<std::chrono::sys_seconds> parse_instant(std::string_view text);

}  // namespace fusegate::baselines
