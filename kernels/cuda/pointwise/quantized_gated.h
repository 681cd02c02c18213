// A gated unit whose result is stored as e4m3: what lies between an fp8 MLP's products where they
// are a library's.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/contract/activation.h"
#include "kernels/contract/device.h"

namespace fusegate::kernels {

// out [m, n] in e4m3 = activation(g) * u / scales, saturated; g and u in bf16, scales one number or
// [m, 1] in fp32. Computes in fp32. n is a multiple of 8, addresses of 16. activation: one of
// kGemmActivations.
void enqueue_quantized_gated(const Activation& activation, const Tensor& g, const Tensor& u,
                             const Tensor& scales, const Tensor& out, cudaStream_t stream);

}  // namespace fusegate::kernels
