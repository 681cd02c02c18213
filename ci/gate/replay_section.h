// What a stored baseline's replay shows of card, driver and libraries, as a section and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "ci/document/document.h"
#include "ci/gate/replay.h"

namespace fusegate::ci {

// What changed is a table, the largest first; the others are folded.
Section replay_section(const Replay& replay, const baselines::Run& replayed);

// {"stored", "environment_differences": [{"field", "stored", "replayed"}], "other_card",
// "toolchain": {"stored", "replayed"} (empty where unknown), "not_replayed": [names], "rows":
// [{"benchmark", "stored_ns", "replayed_ns", "stored_to_replayed" (in time), "at_equal_clock",
// "interval" (of that), "replayed_to_candidate", "stored_to_candidate", "moved", "other_work",
// "why"}]}. NaN is written as null.
nlohmann::json replay_json(const Replay& replay, const baselines::Run& replayed);

}  // namespace fusegate::ci
