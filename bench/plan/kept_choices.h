// Lets a process choose the same kernels that earlier processes chose by measuring
// (Device::keep_choices). Where candidates are equally fast, one process would take this one and
// another that one, and a gate would take the difference for a change of code.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "baselines/record/environment.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

// Sets the kept choices of the plan's benchmarks to those of the first run (a stored baseline, a
// run file, a run folder, or a file of identities) that is of the environment's device. Returns its
// path; nothing where none is, or no benchmark had a choice there. Throws InputError for a path
// that cannot be read. strictly: see KeptChoices.
std::optional<std::filesystem::path> keep_choices(Plan& plan,
                                                  const std::vector<std::filesystem::path>& runs,
                                                  const baselines::Environment& environment,
                                                  bool strictly);

}  // namespace fusegate::bench
