// Random inputs made on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// Uniform in [-scale, scale), the numbers that the CPU makes from the same seed.
void fill_uniform(const Tensor& tensor, float scale, std::uint64_t seed, cudaStream_t stream);

}  // namespace fusegate::kernels
