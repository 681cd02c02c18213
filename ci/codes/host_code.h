// What of a program the host runs, apart from kernels. Where it did not change, the kernels are
// launched as before: the host's machine code and constants decide about launches, arguments,
// libraries and, as texts among the constants, about kernels that NVRTC compiles.
#pragma once

#include <map>
#include <string>

#include "baselines/launches/elf_file.h"

namespace fusegate::ci {

// Hashes of what is loaded when it runs, by section. Left out is what changes though the host runs
// the same: kernels, notes (the linker's build id), tables for exceptions, git commits (40 or more
// hexadecimal digits), and what nvcc derives from a source file's text for names of kernels.
//
// What follows the kernels in memory moves with their size, and code that refers to it changes.
// cmake/KernelsLast.cmake puts them at the end.
//
// Empty for an object: what it refers to is still to be linked.
std::map<std::string, std::string> host_code(const baselines::ElfFile& program);

}  // namespace fusegate::ci
