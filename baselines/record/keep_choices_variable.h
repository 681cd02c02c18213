// How `fusegate` tells benchmark programs whose choices to keep (bench/plan/kept_choices.h).
#pragma once

namespace fusegate::baselines {

// An environment variable with the value of their flag --keep-choices, which a program built before
// there was that flag, such as a pull request's base, would refuse.
inline constexpr const char* kKeepChoicesVariable = "FUSEGATE_KEEP_CHOICES";

}  // namespace fusegate::baselines
