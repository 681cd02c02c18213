// Which of several kernels for the same work is taken, given their times. Needs no device;
// autotune.h takes the times.
//
// Candidates are compared within rounds: a median time is one of times over the level of their
// rounds. They come in an order, a library's in that of its heuristic. The first whose median time
// is within kTieMargin of the fastest's is taken, so every process takes the same of several
// equally fast ones, whichever noise puts ahead. Processes with different kernels would differ in
// time, as after a change of code. At most kTieMargin is given up: 1 % of it cost two benchmarks of
// an H100's pr 1.0 and 1.1 % (docs/evidence/peers.md).
//
// A candidate that lies at kTieMargin itself is still taken by one process and not by another. That
// happened in 9 of the 104 benchmarks of pr on an H200, whose processes then differed in time by up
// to 2.3 %. So a choice that is pinned (what a baseline's process took) is taken while it is within
// kPinnedMargin of the fastest. That is as large as the errors of these short measurements: with
// 2 %, 6 of the 104 still changed, though over the samples the other candidate was at most 0.7 %
// faster and once 1.5 % slower. A required pinned choice (PinnedChoices::required) is taken without
// measuring: the same program was found to launch it minutes ago, and that is what must be
// measured.
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
inline constexpr double kTieMargin = 0.005;
inline constexpr double kPinnedMargin = 0.05;
// A pinned choice that is this close to the fastest after a few rounds is kept without timing any
// further: it is far inside kPinnedMargin. On an H200 whose choices were pinned, asking pr what it
// launches took 17 s for 29, and came to the same choices.
inline constexpr double kSurelyPinnedMargin = 0.02;
// What is slower by more after a few rounds is not timed further.
inline constexpr double kDiscardMargin = 0.1;

// How long a burst is; most: launches that take it, one at least. A round of a candidate is as many
// launches as take 0.2 ms. Of longer kernels it is eight, up to a burst, since the GPU lowers its
// clock for what they draw only as they go on: at 32,768 rows a round of one launch of 0.4 ms made
// an H200 take a kernel that is 3 % slower in bursts.
inline constexpr double kBurstMs = 1.5;
int launches_of_a_round(int most);

// times: of each candidate those of the first rounds, one or more, in their order. Indices of those
// whose median is at most the fastest's times 1 + margin, ascending.
std::vector<std::size_t> close_to_fastest(const std::vector<std::vector<double>>& times,
                                          double margin);

// Indices of the fastest by their medians, so many at most, ascending.
std::vector<std::size_t> fastest_indices(const std::vector<std::vector<double>>& times,
                                         std::size_t most);

// The one taken. pinned: index of the one taken before, where it is among them.
TakenLaunch take(const std::vector<std::vector<double>>& times, std::optional<std::size_t> pinned);

// The pinned one where times of a few rounds suffice to keep it.
std::optional<TakenLaunch> keep_pinned(const std::vector<std::vector<double>>& times,
                                       std::optional<std::size_t> pinned);

// The choice as run files have it, and the candidate's name in it, which may be all of it.
std::string choice_text(std::string_view how, std::size_t taken, std::size_t candidates,
                        std::string_view name);
std::string chosen_name(std::string_view choice);

// The index of the stage's pinned choice among candidates of these names.
std::optional<std::size_t> index_of_pinned(const PinnedChoices& pinned, const std::string& stage,
                                           const std::vector<std::string>& names);
// The same where it is required, or then the only candidate of a stage that has none pinned;
// nothing where measuring decides. Throws DeviceError where a required choice is not among the
// candidates.
std::optional<std::size_t> require_pinned(const PinnedChoices& pinned, const std::string& stage,
                                          const std::vector<std::string>& names);
// Why a stage's choice was taken, for its note: "measured; the next is 2.1 % slower", "measured;
// the fastest is 0.4 % faster; pinned", "measured; ...; the pinned choice was <name>", or "pinned,
// not measured". ahead: TakenLaunch's.
std::string why_taken(const PinnedChoices& pinned, const std::string& stage,
                      std::string_view choice, double ahead);

}  // namespace fusegate::kernels
