// Inputs made on the GPU, and whether they are still what they were.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// The numbers that the CPU makes from the same seed. Any fill but Fill::values.
void enqueue_fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed, cudaStream_t stream);

// Adds the tensor's digest to *sum, which is in device memory and holds zero.
void enqueue_digest(const Tensor& tensor, unsigned long long* sum, cudaStream_t stream);

}  // namespace fusegate::kernels
