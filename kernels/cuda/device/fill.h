// Inputs filled on the GPU, and their digests.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// The same numbers as on the CPU. Any fill but Fill::values.
void enqueue_fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed, cudaStream_t stream);

// Adds the tensor's digest to *sum, a zero in device memory.
void enqueue_digest(const Tensor& tensor, unsigned long long* sum, cudaStream_t stream);

}  // namespace fusegate::kernels
