// What the programs of a run launch, found out before anything is measured: seconds a program, in
// which minutes of measuring equal work are saved.
#pragma once

#include <vector>

#include "ci/console/console.h"
#include "ci/run/process.h"

namespace fusegate::ci {

enum class IdentifyResult { kAll, kNotAll, kInterrupted };

// Every folder gets its program's identities.json; a program of several folders is asked once. The
// others keep the choices of the first where kernels are chosen by measuring, while these are not
// clearly slower, unless their environment tells them to keep none: a change of comments would else
// be one of kernels. Where two programs have chosen otherwise all the same, both are asked again,
// keeping what the first one chose. As soon as one then does what the other one did, the difference
// was the contest's and not the code's, and both are to measure that. What differs every time
// stands.
//
// Where one program tells nothing (it is older than the question, or this kind of device has no
// answer), no folder keeps any: then all is measured, and console.err says so of a program that
// should have told.
IdentifyResult identify_programs(const std::vector<ProcessRequest>& requests, Console& console);

// Has the program take what was found out in its folder, without measuring: what it launches is
// known by now. A program that is older than that keeps it while it is not clearly slower. Nothing
// changes where the environment tells to choose anew.
void take_found_choices(ProcessRequest& request);

}  // namespace fusegate::ci
