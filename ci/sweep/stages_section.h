// Where the GPU's time of each benchmark goes, for `fusegate show` and the report.
#pragma once

#include <vector>

#include "baselines/record/run.h"
#include "ci/document/document.h"

namespace fusegate::ci {

// A row a stage and one for the gaps, of every benchmark that was profiled, below what the shares
// are of.
Section stages_section(const baselines::Run& run);

// The same by operation and dtype, each with bars, and with what was declared and seen.
Section launches_section(const baselines::Run& run);

}  // namespace fusegate::ci
