#include "kernels/cuda/ranks/one_shot_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"
#include "kernels/cuda/ranks/rank_exchange.h"

namespace fusegate::kernels {

OneShotPlan plan_one_shot(std::int64_t bytes, int ranks, const GpuLimits& gpu) {
  check_sizes("one_shot", {{"bytes", bytes, 16, kMostOneShotBytes}});
  OneShotPlan plan;
  if (bytes * (ranks - 1) <= kMostInPackets && bytes <= kMostInPackets) {
    plan.packets = static_cast<int>(bytes / kPacketData);
    const auto blocks = static_cast<int>(ceil_div(plan.packets, std::int64_t{kOneShotThreads}));
    plan.blocks = std::min(blocks, 2 * gpu.sm_count);
    return plan;
  }
  if (bytes >= gpu.sm_count * kOneShotVectors * plan.chunk_bytes()) plan.vectors = kOneShotVectors;
  plan.chunks = static_cast<int>(ceil_div(bytes, plan.chunk_bytes()));
  plan.blocks = std::min(plan.chunks, gpu.sm_count);
  return plan;
}

std::string one_shot_text(const OneShotPlan& plan) {
  if (plan.packets > 0) {
    return fmt::format("one_shot: {} packets, {} blocks", plan.packets, plan.blocks);
  }
  return fmt::format("one_shot: {} chunks of {} KiB, {} blocks", plan.chunks,
                     plan.chunk_bytes() >> 10, plan.blocks);
}

}  // namespace fusegate::kernels
