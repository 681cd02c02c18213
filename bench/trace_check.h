// A profiled call against what its implementation declares (kernels/expectation.h).
#pragma once

#include <optional>
#include <vector>

#include "baselines/call_profile.h"
#include "baselines/trace_expectation.h"
#include "kernels/kernel.h"

namespace fusegate {

// What ran, by the stages that it ran in; stages: as the prepared kernel has them.
SeenTrace seen_trace(const CallProfile& profile, const std::vector<Stage>& stages);

// Nothing where the implementation declares nothing.
std::optional<TraceExpectation> check_trace(const Implementation& implementation,
                                            const SeenTrace& seen);

}  // namespace fusegate
