// NVIDIA's libraries that are not linked, where a process has some of them loaded.
#pragma once

#include <string>

namespace fusegate::bench {

// Opens a library, such as "libcupti.so.13", where the loader looks; else beside CUDA's runtime or
// PyTorch, if they are loaded, in a toolkit or in NVIDIA's Python packages. Null where it is in
// none. What was installed names no folder itself: that would be one of the machine that it was
// built on.
void* open_beside_cuda(const std::string& library);

}  // namespace fusegate::bench
