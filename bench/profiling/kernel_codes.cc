#include "bench/profiling/kernel_codes.h"

#include <stdexcept>

#include "bench/profiling/content_hash.h"
#include "bench/profiling/cubin_code.h"

namespace fusegate::bench {

void KernelCodes::add(std::span<const std::byte> cubin) {
  try {
    const std::map<std::string, std::string> hashes = kernel_code_hashes(cubin);
    const std::lock_guard lock(mutex_);
    for (const auto& [kernel, hash] : hashes) hashes_[kernel].insert(hash);
  } catch (const std::runtime_error&) {
    // Its kernels stay unknown, which whoever asks for them is told.
  }
}

std::string KernelCodes::find(const std::string& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = hashes_.find(kernel);
  if (found == hashes_.end()) return "";
  if (found->second.size() == 1) return *found->second.begin();
  ContentHash all;
  for (const std::string& hash : found->second) all.add(hash);
  return all.hex();
}

KernelCodes& seen_kernel_codes() {
  static KernelCodes codes;
  return codes;
}

}  // namespace fusegate::bench
