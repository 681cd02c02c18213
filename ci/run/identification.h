// What the programs of a run launch, before anything is measured: seconds a program, which save
// minutes of measuring identical code.
#pragma once

#include <vector>

#include "ci/console/console.h"
#include "ci/processes/process.h"

namespace fusegate::ci {

// kNotAll: a program did not say what it launches, and all is measured.
enum class IdentifyResult { kAll, kNotAll, kInterrupted };

// Every folder gets its program's identities.json; a program of several folders is asked once.
// Where kernels are chosen by autotuning, the other programs take the first one's choices while
// these are not clearly slower, unless their environment asks for fresh ones. Otherwise autotuning
// noise would look like a code change. If two programs still pick different kernels, both tune
// again, up to twice; if one then picks the other's kernel, both measure that. What differs every
// time remains.
//
// Where one program says nothing (it is older than the question, or this kind of device has no
// answer), no folder keeps any, and console.err says so of a program that should have.
// names_suffice: an answer that names benchmarks, and does not know their code, is one.
IdentifyResult identify_programs(const std::vector<ProcessRequest>& requests, Console& console,
                                 bool names_suffice = false);

// Has the program take the choices in its folder's identities.json without autotuning. A program
// that is older than that takes them while they are not clearly slower. Does nothing where the
// environment asks for fresh choices.
void take_found_choices(ProcessRequest& request);

}  // namespace fusegate::ci
