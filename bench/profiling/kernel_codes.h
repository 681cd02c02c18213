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
  // Of its code and constants; names, lines and other kernels of its source file do not change it.
  // Constants and initialised variables that the kernels of a file share, and code that they call,
  // enter the hash of each kernel: the file does not show who uses them. Empty where the kernel was
  // not seen.
  std::string hash{};
  // Of its own code, without the no-operations that align the section. 0: unknown.
  int instructions = 0;

  bool operator==(const KernelCode&) const = default;
};

// By the kernel's name as the compiler has it.
// Throws std::runtime_error for a file that is not a cubin or is cut short.
std::map<std::string, KernelCode> kernel_codes(std::span<const std::byte> cubin);

// Filled from whatever thread loads a module.
class KernelCodes {
 public:
  // Ignores a module that cannot be read.
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
