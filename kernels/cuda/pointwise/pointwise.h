// The element-wise CUDA kernels: bias add, gelu, mul, and gelu and mul in one. They compute in fp32
// and round once, when they write, but for the one that says otherwise. Contiguous tensors of any
// size at addresses that are multiples of 16, which every allocation's is, are moved by 16 bytes at
// a time but for the last few elements; at other addresses, and a bias whose rows are no such
// multiple, element by element.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

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
// The same with gelu_tanh(g) rounded to the dtype before the product, as eager PyTorch does: bit
// for bit what enqueue_gelu and then enqueue_mul write. out may be g.
void enqueue_rounded_gelu_mul(const Tensor& g, const Tensor& u, const Tensor& out,
                              cudaStream_t stream);

}  // namespace fusegate::kernels
