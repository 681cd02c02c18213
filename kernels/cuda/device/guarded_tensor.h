// For tests: a tensor between guard zones, which show writes outside it and poison reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

inline constexpr std::byte kGuard{0xff};  // all bits one, as poison writes: NaN where it is read
inline constexpr std::size_t kGuardBytes = 4096;

class GuardedTensor {
 public:
  GuardedTensor(Device& device, std::int64_t rows, std::int64_t cols, Dtype dtype)
      : device_(device),
        bytes_(static_cast<std::size_t>(rows * cols) * dtype_bytes(dtype)),
        memory_(device.allocate(bytes_ + 2 * kGuardBytes)) {
    tensor = {static_cast<std::byte*>(memory_.data()) + kGuardBytes, {rows, cols}, dtype};
    device.poison({memory_.data(), {static_cast<std::int64_t>(memory_.bytes())}, Dtype::kInt8});
  }

  bool guards_are_whole() const {
    std::vector<std::byte> seen(memory_.bytes());
    device_.copy_to_host(memory_.data(), seen);
    const auto is_guard = [](std::byte byte) { return byte == kGuard; };
    return std::all_of(seen.begin(), seen.begin() + kGuardBytes, is_guard) &&
           std::all_of(seen.end() - kGuardBytes, seen.end(), is_guard);
  }

  Tensor tensor;

 private:
  Device& device_;
  std::size_t bytes_;
  Memory memory_;
};

}  // namespace fusegate::kernels
