// A profiled call against what its implementation declares (kernels/contract/expectation.h).
#pragma once

#include <optional>
#include <vector>

#include "baselines/launches/call_profile.h"
#include "baselines/launches/expectation.h"
#include "kernels/contract/kernel.h"

namespace fusegate {

// What ran, by the stages that it ran in; stages: as the prepared kernel has them.
SeenTrace seen_trace(const CallProfile& profile, const std::vector<Stage>& stages);

// Nothing where the implementation declares nothing.
std::optional<TraceExpectation> check_trace(const Implementation& implementation,
                                            const SeenTrace& seen);

}  // namespace fusegate
