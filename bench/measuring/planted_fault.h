// Faults made on purpose, to see what becomes of the other benchmarks: built into
// fusegate_bench_faulty alone. geglu/planted_fault is geglu/fused, until the fault comes.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/contract/kernel.h"

namespace fusegate::bench {

enum class PlantedFault { kNone, kMemory, kAddress, kEndless };

// Preparations in which a kernel that goes wrong later is right.
inline constexpr int kCheckAndFirstLayout = 2;

// To be asked whenever the kernel is prepared. FUSEGATE_PLANTED_FAULT names the fault: "memory",
// "address" or "endless".
inline PlantedFault next_planted_fault() {
  static int prepared = 0;
  const char* const variable = std::getenv("FUSEGATE_PLANTED_FAULT");
  const std::string_view wanted = variable != nullptr ? variable : "";
  if (wanted.empty() || ++prepared <= kCheckAndFirstLayout) return PlantedFault::kNone;
  if (wanted == "memory") return PlantedFault::kMemory;
  if (wanted == "address") return PlantedFault::kAddress;
  if (wanted == "endless") return PlantedFault::kEndless;
  throw std::invalid_argument("FUSEGATE_PLANTED_FAULT: unknown fault " + std::string(wanted));
}

// A kernel of geglu/fused of that kind of device.
inline kernels::PreparedKernel prepare_fused(std::string_view kind, kernels::Device& device,
                                             const kernels::Problem& problem, kernels::Inputs in,
                                             const kernels::Tensor& out) {
  return kernels::find_implementation("geglu", "fused", kind).prepare(device, problem, in, out);
}

// More than any device has.
inline constexpr std::size_t kTooManyBytes = std::size_t{1} << 50;

}  // namespace fusegate::bench
