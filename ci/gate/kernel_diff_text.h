// Why a time changed, kernel by kernel, in words.
#pragma once

#include <string>
#include <vector>

#include "baselines/gating/kernel_diff.h"

namespace fusegate::ci {

std::string short_name(const baselines::ProfiledKernel& kernel);

// What differs in the code, then what the profile shows of it, in one sentence without a full stop.
// Empty where nothing does.
std::string kernel_diff_text(const baselines::KernelDiff& diff);

// One a launch whose code, launch or arguments differ, those first that can have changed a time
// most, and one where the launches depend on each other differently.
std::vector<std::string> work_texts(const baselines::KernelDiff& diff);
// Those in a sentence, the first few by name. Empty where nothing differs, or is not known to.
std::string work_text(const baselines::KernelDiff& diff);

}  // namespace fusegate::ci
