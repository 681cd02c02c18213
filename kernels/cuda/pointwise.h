// The element-wise CUDA kernels: bias add, gelu, mul, and gelu and mul in one. They compute in fp32
// and round once, when they write. Contiguous tensors of any size; 16-byte accesses wherever the
// addresses allow them.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/device.h"

namespace fusegate {

// out [m, n] = x [m, n] + bias [1, n]; out may be x.
void enqueue_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream);
// out = gelu_tanh(x); out may be x.
void enqueue_gelu(const Tensor& x, const Tensor& out, cudaStream_t stream);
// out = a * b; out may be a.
void enqueue_mul(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream);
// out = gelu_tanh(g) * u; out may be g.
void enqueue_gelu_mul(const Tensor& g, const Tensor& u, const Tensor& out, cudaStream_t stream);
// out [m, n] = gelu_tanh(g) * u, where gu [m, 2 n] has g in its left half and u in its right.
void enqueue_packed_gelu_mul(const Tensor& gu, const Tensor& out, cudaStream_t stream);

}  // namespace fusegate
