// The machine code of kernels, by their names: in a cubin, which is an ELF file with a section
// ".text.<kernel>" a kernel and sections for the constants that it reads (NVIDIA, "CUDA Binary
// Utilities"), and of all that this process was seen to load.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>

namespace fusegate::bench {

struct KernelCode {
  // Of its code and its constants, and of nothing that goes by the names, the lines or the other
  // kernels of its source file. But where the file has constants or initialised variables that all
  // its kernels share, or code that they call, these enter the hash of each: who reads them is not
  // told. Empty where the kernel was not seen.
  std::string hash{};
  // Of its own code, without the no-operations that fill it up to the section's alignment. 0: not
  // known.
  int instructions = 0;

  bool operator==(const KernelCode&) const = default;
};

// By the kernel's name as the compiler has it.
// Throws std::runtime_error for what is no cubin or is cut short.
std::map<std::string, KernelCode> kernel_codes(std::span<const std::byte> cubin);

// Filled from whatever thread loads a module.
class KernelCodes {
 public:
  // A module that cannot be read adds nothing.
  void add(std::span<const std::byte> cubin);
  // Without a hash where no module with such a kernel was seen. Where several have one of that
  // name, as kernels of two files' anonymous namespaces may, the hash is of all their codes
  // together, and the instructions are those that all have, or not known.
  KernelCode find(const std::string& kernel) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, int>> codes_;  // kernel: hash: instructions
};

// Of this process: a profiler adds to it while it is attached (cupti_activity.cc).
KernelCodes& seen_kernel_codes();

}  // namespace fusegate::bench
