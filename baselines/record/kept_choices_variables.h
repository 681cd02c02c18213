// How `fusegate` tells benchmark programs whose choices to keep, and how firmly
// (bench/plan/kept_choices.h).
#pragma once

namespace fusegate::baselines {

// Environment variables that hold the values of their flags --keep-choices and --keep-strictly. The
// flags themselves would be refused by a program that is older than they are, such as a pull
// request's base.
inline constexpr const char* kKeepChoicesVariable = "FUSEGATE_KEEP_CHOICES";
inline constexpr const char* kKeepStrictlyVariable = "FUSEGATE_KEEP_STRICTLY";

}  // namespace fusegate::baselines
