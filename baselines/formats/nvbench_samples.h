// The files of samples that nvbench writes beside its JSON file.
#pragma once

#include <string>
#include <vector>

#include "baselines/formats/nvbench_state.h"

namespace fusegate::baselines {

// Replaces the states' mean times by their samples, and returns true; false, and nothing changes,
// where no state has samples. Where one has, every measured state must have its own: means and
// samples are not comparable. A bad sample fails its state. source: the nvbench file. Throws
// InputError.
bool read_nvbench_samples(std::vector<NvbenchState>& states, const std::string& source);

}  // namespace fusegate::baselines
