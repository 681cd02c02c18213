// A kernel's name as people read it.
#pragma once

#include <string>

namespace fusegate::kernels {

// C++'s name where it is one's mangled form; others, such as many of cuBLAS's, stay as they are. A
// kernel that a build slows on purpose has the name of the one in whose place it stands.
std::string readable_name(const char* name);

}  // namespace fusegate::kernels
