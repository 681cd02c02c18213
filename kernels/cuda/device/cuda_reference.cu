#include <cmath>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_reference.h"
#include "kernels/cuda/device/element.cuh"

namespace fusegate::kernels {
namespace {

// The sums that compare() makes on the device.
struct Sums {
  double difference;
  double reference;
  unsigned long long not_finite;
  unsigned long long bad_reference;
};

template <typename F>
__device__ void for_each_element(std::int64_t count, F&& f) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    f(i);
  }
}

template <typename T>
__global__ void widen_kernel(const T* in, double* out, std::int64_t count) {
  for_each_element(count, [=](std::int64_t i) { out[i] = to_double(in[i]); });
}

__global__ void copy_kernel(const double* in, double* out, std::int64_t count) {
  for_each_element(count, [=](std::int64_t i) { out[i] = in[i]; });
}

__global__ void add_bias_kernel(double* x, const double* bias, std::int64_t count, std::int64_t n) {
  for_each_element(count, [=](std::int64_t i) { x[i] += bias[i % n]; });
}

template <typename Functor>
__global__ void gate_kernel(const double* g, const double* u, double* out, std::int64_t count) {
  for_each_element(count, [=](std::int64_t i) { out[i] = Functor::reference(g[i]) * u[i]; });
}

__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0u, value, offset);
  return value;
}

template <typename T>
__global__ void compare_kernel(const T* out, const double* reference, std::int64_t count,
                               Sums* sums) {
  double difference = 0, norm = 0, not_finite = 0, bad_reference = 0;
  for_each_element(count, [&](std::int64_t i) {
    const double value = to_double(out[i]);
    if (!isfinite(value)) not_finite += 1;
    if (!isfinite(reference[i])) bad_reference += 1;
    if (!isfinite(value) || !isfinite(reference[i])) return;
    difference += (value - reference[i]) * (value - reference[i]);
    norm += reference[i] * reference[i];
  });
  difference = warp_sum(difference);
  norm = warp_sum(norm);
  not_finite = warp_sum(not_finite);
  bad_reference = warp_sum(bad_reference);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums->difference, difference);
    atomicAdd(&sums->reference, norm);
    atomicAdd(&sums->not_finite, static_cast<unsigned long long>(not_finite));
    atomicAdd(&sums->bad_reference, static_cast<unsigned long long>(bad_reference));
  }
}

}  // namespace

void CudaReference::widen(const Tensor& in, double* out) {
  dispatch_any_dtype(in.dtype, [&]<typename T>() {
    widen_kernel<<<grid_blocks(in.count()), kThreads, 0, context_.stream>>>(
        static_cast<const T*>(in.data), out, in.count());
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

// Not cudaMemcpyAsync, which is what this is to check.
void CudaReference::copy(const double* in, double* out, std::int64_t count) {
  copy_kernel<<<grid_blocks(count), kThreads, 0, context_.stream>>>(in, out, count);
  FUSEGATE_CUDA(cudaGetLastError());
}

void CudaReference::matmul(const double* x, const double* w, double* out, std::int64_t m,
                           std::int64_t n, std::int64_t k) {
  const LtMatmul product(
      context_, {.m = m, .n = n, .k = k, .type = CUDA_R_64F, .compute = CUBLAS_COMPUTE_64F});
  product.enqueue(x, w, out);
}

void CudaReference::add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) {
  add_bias_kernel<<<grid_blocks(m * n), kThreads, 0, context_.stream>>>(x, bias, m * n, n);
  FUSEGATE_CUDA(cudaGetLastError());
}

void CudaReference::gate(const Activation& activation, const double* g, const double* u,
                         double* out, std::int64_t count) {
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    gate_kernel<Functor><<<grid_blocks(count), kThreads, 0, context_.stream>>>(g, u, out, count);
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

ErrorNorms CudaReference::compare(const Tensor& out, const double* reference) {
  static_assert(sizeof(Sums) == kSumsBytes);
  auto* const sums = static_cast<Sums*>(sums_.data());
  FUSEGATE_CUDA(cudaMemsetAsync(sums, 0, sizeof(Sums), context_.stream));
  dispatch_any_dtype(out.dtype, [&]<typename T>() {
    compare_kernel<<<grid_blocks(out.count()), kThreads, 0, context_.stream>>>(
        static_cast<const T*>(out.data), reference, out.count(), sums);
  });
  FUSEGATE_CUDA(cudaGetLastError());
  Sums host{};
  FUSEGATE_CUDA(
      cudaMemcpyAsync(&host, sums, sizeof(Sums), cudaMemcpyDeviceToHost, context_.stream));
  FUSEGATE_CUDA(cudaStreamSynchronize(context_.stream));
  return {.difference = std::sqrt(host.difference),
          .reference = std::sqrt(host.reference),
          .not_finite = static_cast<std::int64_t>(host.not_finite),
          .bad_reference = static_cast<std::int64_t>(host.bad_reference)};
}

}  // namespace fusegate::kernels
