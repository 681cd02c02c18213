#include "kernels/cuda/ranks/one_shot_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"

namespace fusegate::kernels {

OneShotPlan plan_one_shot(std::int64_t bytes, const GpuLimits& gpu) {
  check_sizes("one_shot", {{"bytes", bytes, 16, kMostOneShotBytes}});
  OneShotPlan plan;
  if (bytes >= gpu.sm_count * kOneShotVectors * plan.chunk_bytes()) plan.vectors = kOneShotVectors;
  plan.chunks = static_cast<int>(ceil_div(bytes, plan.chunk_bytes()));
  plan.blocks = std::min(plan.chunks, gpu.sm_count);
  return plan;
}

std::string one_shot_text(const OneShotPlan& plan) {
  return fmt::format("one_shot: {} chunks of {} KiB, {} blocks", plan.chunks,
                     plan.chunk_bytes() >> 10, plan.blocks);
}

}  // namespace fusegate::kernels
