// The properties of a GPU that plans depend on. Plain C++, so that plans are tested for other GPUs
// too (known_gpus.h).
#pragma once

#include <cstddef>

namespace fusegate::kernels {

struct GpuLimits {
  int sm_count = 0;
  std::size_t shared_bytes_per_block = 0;  // what a kernel may ask for
  std::size_t shared_bytes_per_sm = 0;
  std::size_t l2_bytes = 0;
};

}  // namespace fusegate::kernels
