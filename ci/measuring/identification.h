// What the programs of a run launch, found out before anything is measured: seconds a program, in
// which minutes of measuring equal work are saved.
#pragma once

#include <vector>

#include "ci/console/console.h"
#include "ci/measuring/invocation.h"

namespace fusegate::ci {

enum class Told { kAll, kNotAll, kInterrupted };

// Every folder gets its program's identities.json; a program of several folders is asked once. The
// others keep the choices of the first where kernels are chosen by measuring, unless their
// environment tells them to keep none: a change of comments would else be one of kernels. Where one
// program tells nothing (it is older than the question, or this kind of device has no answer), no
// folder keeps any: then all is measured, and console.err says so of a program that should have
// told.
Told identify_programs(std::vector<InvocationRequest> requests, Console& console);

// Has the program that gets it keep the choices found out in that folder, as the others did.
void keep_choices_of(const std::filesystem::path& folder,
                     std::map<std::string, std::string>& environment);

}  // namespace fusegate::ci
