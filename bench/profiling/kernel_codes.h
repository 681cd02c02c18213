// The machine code of every kernel that this process was seen to load, by the kernel's name.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>

namespace fusegate::bench {

// Filled from whatever thread loads a module.
class KernelCodes {
 public:
  // A module that cannot be read adds nothing.
  void add(std::span<const std::byte> cubin);
  // A hash; empty where no module with such a kernel was seen. Where several have one of that name,
  // as kernels of two files' anonymous namespaces may, the hash is of all their codes together.
  std::string find(const std::string& kernel) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::set<std::string>> hashes_;
};

// Of this process: a profiler adds to it while it is attached (cupti_activity.cc).
KernelCodes& seen_kernel_codes();

}  // namespace fusegate::bench
