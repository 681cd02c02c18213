#include "bench/profiling/kernel_codes.h"

#include <stdexcept>

namespace fusegate::bench {

void KernelCodes::add(std::span<const std::byte> cubin) {
  try {
    const std::map<std::string, KernelCode> codes = baselines::kernel_codes(cubin);
    const std::lock_guard lock(mutex_);
    for (const auto& [kernel, code] : codes) codes_[kernel].emplace(code.hash, code);
  } catch (const std::runtime_error&) {
    // Its kernels stay unknown: find() has no hash for them.
  }
}

KernelCode KernelCodes::find(const std::string& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = codes_.find(kernel);
  return found == codes_.end() ? KernelCode{} : baselines::taken_together(found->second);
}

KernelCodes& seen_kernel_codes() {
  static KernelCodes codes;
  return codes;
}

}  // namespace fusegate::bench
