#include "kernels/cuda/ranks/one_shot_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"
#include "kernels/cuda/ranks/rank_exchange.h"

namespace fusegate::kernels {

bool fits_packets(std::int64_t bytes, int ranks) {
  return bytes * std::max(ranks - 1, 1) <= kMostInPackets;
}

OneShotPlan plan_packets(std::int64_t bytes, const GpuLimits& gpu) {
  check_sizes("packets", {{"bytes", bytes, 16, kMostInPackets}});
  const auto packets = static_cast<int>(bytes / kPacketData);
  const auto blocks = static_cast<int>(ceil_div(packets, std::int64_t{kOneShotThreads}));
  return {.packets = packets,
          .blocks = std::min({blocks, kOneShotBlocks * gpu.sm_count, kCounters})};
}

OneShotPlan plan_all_reduce(std::int64_t bytes, int ranks, const GpuLimits& gpu) {
  check_sizes("all_reduce", {{"bytes", bytes, 16, kMostOneShotBytes}});
  if (fits_packets(bytes, ranks)) return plan_packets(bytes, gpu);
  OneShotPlan plan{.shots = ranks > 2 ? 2 : 1};
  if (bytes >= gpu.sm_count * kOneShotVectors * plan.chunk_bytes()) plan.vectors = kOneShotVectors;
  plan.chunks = static_cast<int>(ceil_div(bytes, plan.chunk_bytes()));
  plan.blocks = std::min({plan.chunks, kOneShotBlocks * gpu.sm_count, kCounters});
  return plan;
}

std::string one_shot_text(const OneShotPlan& plan) {
  if (plan.packets > 0) {
    return fmt::format("one_shot: {} packets, {} blocks", plan.packets, plan.blocks);
  }
  return fmt::format("{}_shot: {} chunks of {} KiB, {} blocks", plan.shots == 1 ? "one" : "two",
                     plan.chunks, plan.chunk_bytes() >> 10, plan.blocks);
}

}  // namespace fusegate::kernels
