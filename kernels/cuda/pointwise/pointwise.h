// The element-wise CUDA kernels: bias add, activations, mul, activation and mul in one, and the
// backward passes of both. They compute in fp32 and round once, except enqueue_rounded_gated. They
// move contiguous tensors of any size 16 bytes at a time, except for the last few elements; element
// by element where an address, or a row of a bias, is not a multiple of 16 bytes.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/activations/unit_backward.h"
#include "kernels/contract/activation.h"
#include "kernels/contract/device.h"

namespace fusegate::kernels {

// activation: one of kActivations.

// out [m, n] = x [m, n] + bias [1, n]; out may be x.
void enqueue_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream);
// out = activation(x); out may be x.
void enqueue_activation(const Activation& activation, const Tensor& x, const Tensor& out,
                        cudaStream_t stream);
// out = a * b; out may be a.
void enqueue_mul(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream);
// out = activation(g) * u; out may be g.
void enqueue_gated(const Activation& activation, const Tensor& g, const Tensor& u,
                   const Tensor& out, cudaStream_t stream);
// out = activation'(g) * d; out may be g or d.
void enqueue_activation_backward(const Activation& activation, const Tensor& g, const Tensor& d,
                                 const Tensor& out, cudaStream_t stream);
void enqueue_gated_backward(const Activation& activation, const UnitBackward& unit,
                            cudaStream_t stream);
// out [m, n] = activation(g) * u, where gu [m, 2 n] has g in its left half and u in its right.
void enqueue_packed_gated(const Activation& activation, const Tensor& gu, const Tensor& out,
                          cudaStream_t stream);
// The same with activation(g) rounded to the dtype before the product, as eager PyTorch does: bit
// for bit what enqueue_activation and then enqueue_mul write. out may be g.
void enqueue_rounded_gated(const Activation& activation, const Tensor& g, const Tensor& u,
                           const Tensor& out, cudaStream_t stream);

}  // namespace fusegate::kernels
