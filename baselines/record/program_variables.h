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
// The number of an inherited socket, by which a program waits for its turn once it has loaded: it
// sends one of the words below, uses the device only once it receives a byte, and ends with 2 where
// the socket ends. Only for programs whose identities say load_s (baselines/launches/identities.h):
// others know no turns. Where a user sets it to "", programs load one by one.
inline constexpr const char* kTurnVariable = "FUSEGATE_TURN";
inline constexpr char kReady = 'r';
inline constexpr char kUsesGpu = 'u';  // ready too, but loading has used a GPU already

}  // namespace fusegate::baselines
