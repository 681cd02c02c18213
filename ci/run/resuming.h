// A run that was interrupted, as the same command goes on with it (--resume).
//
// Whole processes stay. What one left that was cut off is removed, and it is measured anew.
// Programs are compared round by round, so that a round which lacks a process is measured anew too:
// its whole processes stay in the folders, and are not counted.
#pragma once

#include <cstddef>
#include <vector>

#include "ci/processes/run_record.h"
#include "ci/run/measuring_request.h"

namespace fusegate::ci {

// records: what a fresh start would have, one a program; they take what their folders hold. The
// folders are locked. Returns how many processes of each, its first ones, are of no whole round.
// Throws InputError naming file and field where a folder has a run of something else.
std::vector<std::size_t> resume(const MeasuringRequest& request, std::vector<RunRecord>& records);

}  // namespace fusegate::ci
