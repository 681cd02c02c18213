// What kernels tell of a change of time: what of them changed, then what the profile shows of it.
#pragma once

#include <string>
#include <vector>

#include "baselines/gating/kernel_diff.h"

namespace fusegate::ci {

// One sentence without a full stop. Empty where there is nothing to tell.
std::string story_text(const baselines::KernelStory& story);

// "gelu_mul: machine code of few_rows_kernel changed: block 128 -> 256 threads, registers 166 ->
// 120".
std::string launch_change_text(const baselines::LaunchChange& change);
// One a launch whose work differs, those first that can have changed a time most, and one where
// the launches wait for each other in another way.
std::vector<std::string> work_texts(const baselines::KernelStory& story);
// Those in a sentence, the first few by name. Empty where nothing differs, or is not known to.
std::string work_text(const baselines::KernelStory& story);

}  // namespace fusegate::ci
