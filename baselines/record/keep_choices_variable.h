// How `fusegate` tells benchmark programs whose choices to keep (bench/plan/kept_choices.h).
#pragma once

namespace fusegate::baselines {

// An environment variable that holds the value of their flag --keep-choices. The flag itself would
// be refused by a program that is older than the flag, such as a pull request's base.
inline constexpr const char* kKeepChoicesVariable = "FUSEGATE_KEEP_CHOICES";

}  // namespace fusegate::baselines
