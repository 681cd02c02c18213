// A benchmark's history as people read it in a terminal: a line a night.
#pragma once

#include <vector>

#include "baselines/history/history.h"
#include "ci/console/table.h"

namespace fusegate::ci {

// Date, commit, card, time at equal clock, its change to the night before on the same device, where
// it lies between the device's fastest and slowest night, and what else changed since that night.
// points: oldest first.
Table history_table(const std::vector<baselines::HistoryPoint>& points);

}  // namespace fusegate::ci
