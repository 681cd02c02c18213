// Where the GPU's time of each benchmark goes, and which benchmarks launch other than they declare,
// as tables for `fusegate show`, the gate and the report.
#pragma once

#include <string_view>
#include <vector>

#include "baselines/comparing/gate.h"
#include "baselines/record/run.h"
#include "ci/console/table.h"

namespace fusegate::ci {

// What the shares are of, for beneath the table's title.
inline constexpr std::string_view kStagesNote =
    "GPU time by stage, of one call with a profiler attached: sum counts every duration, own not "
    "what ran while something earlier still did; share is own time of the whole";

inline constexpr std::string_view kUnmetNote = "Launches other than declared";

// A row a stage and one for the gaps, of every benchmark that was profiled.
Table stages_table(const baselines::Run& run);

// A row for each part that is not as declared.
Table expectations_table(const std::vector<baselines::UnmetExpectation>& unmet);

}  // namespace fusegate::ci
