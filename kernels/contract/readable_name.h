// A kernel's name as people read it.
#pragma once

#include <string>

namespace fusegate::kernels {

// C++'s name where it is one's mangled form; others, such as many of cuBLAS's, stay as they are.
std::string readable_name(const char* name);

}  // namespace fusegate::kernels
