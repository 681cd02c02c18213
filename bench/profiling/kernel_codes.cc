#include "bench/profiling/kernel_codes.h"

#include <stdexcept>
#include <utility>

namespace fusegate::bench {
namespace {

std::map<std::string, KernelCode> read(std::span<const std::byte> cubin) {
  try {
    return baselines::kernel_codes(cubin);
  } catch (const std::runtime_error&) {
    return {};  // its kernels stay unknown: find() has no hash for them
  }
}

}  // namespace

void KernelCodes::load(const ModuleKey& module, std::span<const std::byte> cubin) {
  auto codes = std::make_shared<const Codes>(read(cubin));
  const std::lock_guard lock(mutex_);
  modules_[module] = std::move(codes);
}

void KernelCodes::launch(const ModuleKey& module, std::span<const std::byte> cubin) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Codes>& codes = modules_[module];
  if (codes == nullptr) codes = std::make_shared<const Codes>(read(cubin));
  launched_.insert(codes);
}

void KernelCodes::begin_call() {
  const std::lock_guard lock(mutex_);
  launched_.clear();
}

KernelCode KernelCodes::find(const std::string& kernel) const {
  std::map<std::string, KernelCode> codes;  // by their hashes
  const auto add = [&](const Codes& module) {
    if (const auto found = module.find(kernel); found != module.end()) {
      codes.emplace(found->second.hash, found->second);
    }
  };
  const std::lock_guard lock(mutex_);
  for (const auto& module : launched_) add(*module);
  if (codes.empty()) {
    for (const auto& [key, module] : modules_) add(*module);
  }
  return codes.empty() ? KernelCode{} : baselines::taken_together(codes);
}

KernelCodes& seen_kernel_codes() {
  static KernelCodes codes;
  return codes;
}

}  // namespace fusegate::bench
