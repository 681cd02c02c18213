// The machine code of kernels by their names, in a cubin: an ELF file with a section
// ".text.<kernel>" a kernel and sections for the constants that it reads (NVIDIA, "CUDA Binary
// Utilities").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace fusegate::baselines {

struct KernelCode {
  // Of its code and constants; names, lines and other kernels of its source file do not change it.
  // Constants and initialised variables that the kernels of a file share, and code that they call,
  // enter the hash of each kernel: the file does not show who uses them. Empty where the kernel was
  // not seen.
  std::string hash{};
  // Of its own code, without the no-operations that align the section. 0: unknown.
  int instructions = 0;
  int registers = 0;              // of a thread; 0: unknown
  std::int64_t shared_bytes = 0;  // of a block, what the compiler knows and reserves
  int local_bytes = 0;            // of a thread: its stack, where registers are spilled to
  bool is_function = false;       // no kernel: one that kernels call

  bool operator==(const KernelCode&) const = default;
};

// By the kernel's name as the compiler has it.
// Throws std::runtime_error for a file that is not a cubin or is cut short.
std::map<std::string, KernelCode> kernel_codes(std::span<const std::byte> cubin);

// Of kernels of one name, as those of two files' anonymous namespaces may be, by their hashes: the
// hash is of all their codes together, and a number is the one that all have, or 0. codes must not
// be empty.
KernelCode taken_together(const std::map<std::string, KernelCode>& codes);

// "sm_90a"; without its letter where an older compiler wrote no note of it. Throws
// std::runtime_error as kernel_codes() does.
std::string cubin_architecture(std::span<const std::byte> cubin);

}  // namespace fusegate::baselines
