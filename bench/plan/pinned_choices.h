// Pins autotuned kernels to the choices of an earlier process. Where candidates are equally fast,
// each process would otherwise choose anew, and a gate would report a change of code.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "baselines/record/environment.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

// Pins the plan's benchmarks to the choices of the first of the runs (stored baseline, run file,
// run folder or file of identities) that is of the environment's device. Returns its path; nothing
// where no run is of that device, or that run has no choices. strictly: without measuring. Throws
// InputError for a path that cannot be read.
std::optional<std::filesystem::path> pin_choices(Plan& plan,
                                                 const std::vector<std::filesystem::path>& runs,
                                                 const baselines::Environment& environment,
                                                 bool strictly);

}  // namespace fusegate::bench
