// What `fusegate` tells benchmark programs by environment variables. The flags of the same meaning
// would be refused by a program that is older than they are, such as a pull request's base.
#pragma once

namespace fusegate::baselines {

// --keep-choices and --keep-strictly: whose choices to keep, and how firmly
// (bench/plan/kept_choices.h).
inline constexpr const char* kKeepChoicesVariable = "FUSEGATE_KEEP_CHOICES";
inline constexpr const char* kKeepStrictlyVariable = "FUSEGATE_KEEP_STRICTLY";
// --stuck-after-s on a GPU: when a benchmark counts as one that never ends
// (bench/measuring/watchdog.h).
inline constexpr const char* kStuckAfterVariable = "FUSEGATE_STUCK_AFTER_S";

}  // namespace fusegate::baselines
