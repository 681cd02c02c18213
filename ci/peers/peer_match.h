// Whether a run of peers may stand beside ours, and what a reader must know of the two: peers are
// measured by another program (bench/peers), with libraries of its own.
#pragma once

#include <string>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::ci {

// Throws InputError for another device or driver, or another value of any other field that both
// runs record, unless differences are allowed. CUDA and cuBLAS may differ.
void check_peer_environment(const baselines::Run& ours, const baselines::Run& peers,
                            bool allow_differences);

// In sentences: environments that differ, another card, another command, how the two protocols
// differ. Peers let the driver lay out their tensors ("driver") where ours are in numbered layouts;
// that is reported as a fact, and any other difference as a warning.
std::vector<std::string> peer_notes(const baselines::Run& ours, const baselines::Run& peers);

}  // namespace fusegate::ci
