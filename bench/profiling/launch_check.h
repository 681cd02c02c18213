// Compares a profiled call with what its implementation declares (kernels/contract/expectation.h).
#pragma once

#include <optional>
#include <vector>

#include "baselines/launches/call_profile.h"
#include "baselines/launches/expectation.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {

// What ran, by the stages that it ran in; stages: as the prepared kernel has them.
kernels::SeenTrace seen_trace(const baselines::CallProfile& profile,
                              const std::vector<kernels::Stage>& stages);

// Nothing where the implementation declares nothing.
std::optional<baselines::TraceExpectation> check_trace(
    const kernels::Implementation& implementation, const kernels::SeenTrace& seen);

}  // namespace fusegate::bench
