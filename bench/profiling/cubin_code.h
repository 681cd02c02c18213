// The machine code in a cubin, which is an ELF file with a section ".text.<kernel>" a kernel and
// sections for the constants that it reads (NVIDIA, "CUDA Binary Utilities").
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace fusegate::bench {

// By the kernel's name as the compiler has it: a hash of its code and its constants, and of nothing
// that goes by the names, the lines or the other kernels of its source file. But where the file has
// constants or initialised variables that all its kernels share, or code that they call, these
// enter the hash of each: who reads them is not told.
// Throws std::runtime_error for what is no cubin or is cut short.
std::map<std::string, std::string> kernel_code_hashes(std::span<const std::byte> cubin);

}  // namespace fusegate::bench
