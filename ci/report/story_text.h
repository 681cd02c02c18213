// What kernels tell of a change of time.
#pragma once

#include <string>

#include "baselines/gating/kernel_story.h"

namespace fusegate::ci {

// One sentence without a full stop. Empty where there is nothing to tell.
std::string story_text(const baselines::KernelStory& story);

}  // namespace fusegate::ci
