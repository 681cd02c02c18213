// Which of several kernels for the same work is taken, given their times. No device is needed here;
// launch_contest.h takes the times.
//
// They come in an order, a library's in its heuristic's, and the one taken is the first of those
// whose median time is within kTie of the fastest's. So what comes first is kept where measuring
// finds nothing better by more than that, and of several that are equally fast every process takes
// the same one, whichever of them noise puts ahead: processes with different kernels differ in
// time, and a gate would have to tell that from a change of code. What is given up is at most kTie.
// One that lies at kTie itself can still be taken by one process and not by another; the run file
// says which it was.
#pragma once

#include <cstddef>
#include <vector>

namespace fusegate {

// Shares of the fastest's median time.
inline constexpr double kTie = 0.01;
// What is slower by more after a few rounds is not timed further.
inline constexpr double kHopeless = 0.1;

// Of candidates with these times, one or more each, those whose median is at most the fastest's
// times one plus margin; in the order given.
std::vector<std::size_t> close_to_fastest(const std::vector<std::vector<double>>& times,
                                          double margin);

}  // namespace fusegate
