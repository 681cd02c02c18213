// The machine code of all kernels that this process was seen to load, and of those that the last
// profiled call launched.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "baselines/launches/kernel_code.h"

namespace fusegate::bench {

using baselines::KernelCode;

// How CUPTI numbers modules.
struct ModuleKey {
  const void* context = nullptr;
  std::uint32_t number = 0;

  auto operator<=>(const ModuleKey&) const = default;
};

// Filled from whatever thread loads a module or launches of it. Ignores modules that cannot be
// read.
class KernelCodes {
 public:
  // Replaces an earlier module of the same key.
  void load(const ModuleKey& module, std::span<const std::byte> cubin);
  // A kernel of the module is launched. The cubin is read where the module was not seen before.
  void launch(const ModuleKey& module, std::span<const std::byte> cubin);
  // What comes is another call.
  void begin_call();

  // Of the modules that the call launched from: many have a kernel of one name, as those that NVRTC
  // or Triton compile for one shape each, and which ones were loaded before is nothing to this
  // call. Without a hash where no module with such a kernel was seen; of all that were seen where
  // the call launched from none (an older CUPTI may hand over a module only once). Several of that
  // name are taken together (kernel_code.h).
  KernelCode find(const std::string& kernel) const;

 private:
  using Codes = std::map<std::string, KernelCode>;  // by the kernel's name

  mutable std::mutex mutex_;
  std::map<ModuleKey, std::shared_ptr<const Codes>> modules_;
  std::set<std::shared_ptr<const Codes>> launched_;
};

// Of this process: a profiler adds to it while it is attached (cupti_activity.cc).
KernelCodes& seen_kernel_codes();

}  // namespace fusegate::bench
