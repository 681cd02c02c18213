// A stage's choice as run files and identities tell it, "tuned: candidate 3 of 8, algo 66, tile 18"
// where a contest picked it, or its name alone (kernels/cuda/autotuning/launch_choice.h).
#pragma once

#include <string_view>

namespace fusegate::baselines {

// Whether a contest picked it, which may pick another one another time, and no rule.
bool is_measured_choice(std::string_view choice);

// What was picked, "algo 66, tile 18", however it was found and among how many.
std::string_view choice_name(std::string_view choice);

}  // namespace fusegate::baselines
