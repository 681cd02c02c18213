// The machine code of all kernels that this process was seen to load.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "baselines/launches/kernel_code.h"

namespace fusegate::bench {

using baselines::KernelCode;

// Filled from whatever thread loads a module.
class KernelCodes {
 public:
  // Ignores a module that cannot be read.
  void add(std::span<const std::byte> cubin);
  // Without a hash where no module with such a kernel was seen. Several of that name are taken
  // together (kernel_code.h).
  KernelCode find(const std::string& kernel) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, KernelCode>> codes_;  // kernel: hash: code
};

// Of this process: a profiler adds to it while it is attached (cupti_activity.cc).
KernelCodes& seen_kernel_codes();

}  // namespace fusegate::bench
