// Sizes that a kernel of a matrix product can address.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>

namespace fusegate::kernels {

// With room for a tile beyond the end, so that positions never overflow an int.
inline constexpr std::int64_t kMostOfAnAxis = std::numeric_limits<int>::max() - (1 << 16);

struct CheckedSize {
  const char* name;
  std::int64_t value;
  std::int64_t multiple = 1;
  std::int64_t most = kMostOfAnAxis;
};

// Throws std::invalid_argument where one is not a multiple from `multiple` to `most`.
inline void check_sizes(const char* kernel, std::initializer_list<CheckedSize> sizes) {
  for (const auto& [name, value, multiple, most] : sizes) {
    if (value >= multiple && value <= most && value % multiple == 0) continue;
    throw std::invalid_argument(fmt::format("{}: {} is {}, must be a multiple of {} from {} to {}",
                                            kernel, name, value, multiple, multiple, most));
  }
}

}  // namespace fusegate::kernels
