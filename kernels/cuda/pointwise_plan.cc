#include "kernels/cuda/pointwise_plan.h"

#include <fmt/format.h>

#include <limits>

#include "kernels/device.h"

namespace fusegate {

bool PointwisePlan::exact(const PointwiseGrid& grid) const {
  return tail == 0 && std::uint64_t{blocks} * grid.threads * grid.packs_a_thread == packs;
}

PointwisePlan plan_pointwise(std::int64_t count, int in_a_pack, bool aligned,
                             const PointwiseGrid& grid) {
  const std::int64_t packs = aligned ? count / in_a_pack : 0;
  const std::int64_t tail = count - packs * in_a_pack;
  const std::int64_t a_block = std::int64_t{grid.threads} * grid.packs_a_thread;
  const std::int64_t blocks = (packs + tail + a_block - 1) / a_block;
  // Threads count in 32 bits, up to the end of the last block and a block's packs beyond.
  if ((blocks + 1) * a_block > std::numeric_limits<std::uint32_t>::max()) {
    throw DeviceError(
        fmt::format("{} elements are more than an element-wise kernel counts", count));
  }
  return {static_cast<unsigned>(packs), static_cast<unsigned>(tail), static_cast<unsigned>(blocks)};
}

}  // namespace fusegate
