// Which of several kernels for the same work is taken, given their times. No device is needed here;
// launch_contest.h takes the times.
//
// The candidates come in an order; a library's come in the order of its heuristic. The first whose
// median time is within kTie of the fastest's is taken. So the first of all is kept unless
// measuring finds one that is better by more than kTie, and of several equally fast ones every
// process takes the same, whichever of them noise puts ahead. Processes with different kernels
// would differ in time, and a gate would have to tell that from a change of code. At most kTie is
// given up: 1 % of it cost two benchmarks of an H100's pr 1.0 and 1.1 % (docs/evidence/fused-products.md).
//
// A candidate that lies at kTie itself is still taken by one process and not by another. That
// happened in 9 of the 104 benchmarks of pr on an H200, whose processes then differed in time by up
// to 2.3 %. So what a baseline's process took is taken again while it is within kKept of the
// fastest. kKept is as large as the errors of these short measurements: with 2 %, 6 of the 104
// still changed, though over the samples the other candidate was at most 0.7 % faster and once 1.5
// % slower. Strictly kept is what the same program was found to take minutes ago
// (KeptChoices::strictly): what it launches then is known, and must be what is measured.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/taken_launch.h"

namespace fusegate::kernels {

// Shares of the fastest's median time.
inline constexpr double kTie = 0.005;
inline constexpr double kKept = 0.05;
// What is slower by more after a few rounds is not timed further.
inline constexpr double kHopeless = 0.1;

// A round of a candidate is as many launches as take 0.2 ms. Of longer kernels it is eight, up to a
// burst, since the GPU lowers its clock for what they draw only as they go on: at 32,768 rows one
// launch of 0.4 ms told an H200 to take a kernel that is 3 % slower in bursts. most: launches that
// take kBurstMs, one at least.
inline constexpr double kBurstMs = 1.5;
int launches_of_a_round(int most);

// Of candidates with these times, one or more each, those whose median is at most the fastest's
// times one plus margin; in the order given.
std::vector<std::size_t> close_to_fastest(const std::vector<std::vector<double>>& times,
                                          double margin);

// The places of the fastest by their medians, so many at most; in the order given.
std::vector<std::size_t> fastest_places(const std::vector<std::vector<double>>& times,
                                        std::size_t most);

// The one taken. kept: the place of the one that was taken before, where it is among them.
TakenLaunch take(const std::vector<std::vector<double>>& times, std::optional<std::size_t> kept);

// The choice as run files tell it, and a candidate's name as it stands there, which may be all
// there is.
std::string choice_text(std::string_view how, std::size_t taken, std::size_t candidates,
                        std::string_view name);
std::string chosen_name(std::string_view choice);

// Of candidates of these names the place of the one that is kept for the stage.
std::optional<std::size_t> place_kept(const KeptChoices& kept, const std::string& stage,
                                      const std::vector<std::string>& names);
// The same where it is taken without measuring; nothing where measuring decides. Throws DeviceError
// where none of them is the one that is strictly kept.
std::optional<std::size_t> place_taken_strictly(const KeptChoices& kept, const std::string& stage,
                                                const std::vector<std::string>& names);
// Why a stage's choice was taken, for its note: "measured, 2.1 % ahead of the next", "measured, 0.4
// % behind the fastest, and kept", "measured, ..., in place of <the kept one's name>", or "kept
// without measuring". ahead: as in taken_launch.h.
std::string why_taken(const KeptChoices& kept, const std::string& stage, std::string_view choice,
                      double ahead);

}  // namespace fusegate::kernels
