// What a plan has to know of the GPU that it is for. Plain C++, so that plans are tested with the
// figures of GPUs that are not here (known_gpus.h); CudaDevice::limits() has those of the one that
// is.
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
