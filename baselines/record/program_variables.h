// Environment variables that `fusegate` sets for benchmark programs. A program that is older than
// the flags of the same meaning, such as a pull request's base, would refuse the flags. The
// variables' values never change: older programs read them.
#pragma once

namespace fusegate::baselines {

// --pin-choices and --pin-strictly (bench/plan/pinned_choices.h).
inline constexpr const char* kPinChoicesVariable = "FUSEGATE_KEEP_CHOICES";
inline constexpr const char* kPinStrictlyVariable = "FUSEGATE_KEEP_STRICTLY";
// --stuck-after-s on a GPU (bench/measuring/watchdog.h).
inline constexpr const char* kStuckAfterVariable = "FUSEGATE_STUCK_AFTER_S";

}  // namespace fusegate::baselines
