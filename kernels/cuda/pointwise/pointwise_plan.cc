#include "kernels/cuda/pointwise/pointwise_plan.h"

#include <fmt/format.h>

#include <limits>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

bool PointwisePlan::exact(unsigned threads) const {
  return tail == 0 && std::uint64_t{blocks} * threads == packs;
}

PointwisePlan plan_pointwise(std::int64_t count, int in_a_pack, bool aligned, unsigned threads) {
  const std::int64_t packs = aligned ? count / in_a_pack : 0;
  const std::int64_t tail = count - packs * in_a_pack;
  const std::int64_t blocks = (packs + tail + threads - 1) / threads;
  // Thread indices have 32 bits.
  if (blocks * threads > std::numeric_limits<std::uint32_t>::max()) {
    throw DeviceError(fmt::format("{} elements are too many for one element-wise kernel", count));
  }
  return {static_cast<unsigned>(packs), static_cast<unsigned>(tail), static_cast<unsigned>(blocks)};
}

}  // namespace fusegate::kernels
