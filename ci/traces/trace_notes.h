// What a reader of a trace's figures should know of the file: a line for each doubt.
#pragma once

#include <string>
#include <vector>

#include "baselines/traces/summary.h"

namespace fusegate::ci {

std::vector<std::string> loss_notes(const baselines::TraceLosses& lost);
// These, and work whose duration is wrong.
std::vector<std::string> trace_notes(const baselines::TraceSummary& summary);

}  // namespace fusegate::ci
