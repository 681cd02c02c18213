// Changes planted on purpose, to test that `fusegate explain` finds their causes
// (-DFUSEGATE_PLANTED_CHANGE=...; slowdown.cuh plants a slower kernel). Only stages made by
// CudaStages have them.
#pragma once

#include <chrono>

namespace fusegate::kernels {

enum class PlantedChange {
  kNone,
  kOtherAlgorithm,  // matmuls by the heuristic's second choice, as if another cublasLt were linked
  kExtraLaunch,     // gelu_mul by a gelu and a mul
  kHostDelay,       // the host waits before every gelu_mul
};

#ifdef FUSEGATE_PLANTED_CHANGE
inline constexpr PlantedChange kPlantedChange = PlantedChange::FUSEGATE_PLANTED_CHANGE;
#else
inline constexpr PlantedChange kPlantedChange = PlantedChange::kNone;
#endif

// Longer than a profiler's own delays.
inline void dawdle() {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::microseconds(50);
  while (Clock::now() < end) {
  }
}

}  // namespace fusegate::kernels
