// A kernel's name as people read it.
#pragma once

#include <string>

namespace fusegate::kernels {

// Demangled, or as it is where it is not a mangled name. A kernel that a build slows on purpose has
// its original's name.
std::string readable_name(const char* name);

}  // namespace fusegate::kernels
