// An example of an operation with axes of its own: softmax over the keys and values of attention,
// one row a head. y[head, i] = exp(x[head, i] - max) / sum over j of exp(x[head, j] - max).
#include <fusegate/kernel.h>
#include <fusegate/work.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>
#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <fusegate/cuda.h>
#endif

namespace {

using namespace fusegate::kernels;

std::vector<TensorSpec> inputs(const Problem& p) {
  return {{"x", {p.at("heads"), p.at("kv")}, Fill::normal(2)}};
}

std::vector<TensorSpec> outputs(const Problem& p) { return {{"y", {p.at("heads"), p.at("kv")}}}; }

void reference(const Problem& p, std::span<const std::vector<double>> in,
               std::span<std::vector<double>> out) {
  const std::int64_t kv = p.at("kv");
  for (std::int64_t head = 0; head < p.at("heads"); ++head) {
    const auto x = in[0].begin() + head * kv;
    const auto y = out[0].begin() + head * kv;
    const double largest = *std::max_element(x, x + kv);
    double sum = 0;
    for (std::int64_t i = 0; i < kv; ++i) sum += y[i] = std::exp(x[i] - largest);
    for (std::int64_t i = 0; i < kv; ++i) y[i] /= sum;
  }
}

const OperationRegistration operation{{
    .name = "softmax",
    .axes = {"heads", "kv"},
    .inputs = &inputs,
    .outputs = &outputs,
    .host_reference = &reference,
}};

PreparedKernel prepare_on_cpu(Device&, const Problem&, Inputs in, const Tensor& y) {
  PreparedKernel kernel;
  kernel.stages.push_back(pointwise_work("softmax", 4, {&in[0]}, y));
  kernel.stages.back().launch = [x = in[0], y] {
    for (std::int64_t row = 0; row < x.rows(); ++row) {
      const auto* const from = static_cast<const float*>(x.data) + row * x.cols();
      auto* const to = static_cast<float*>(y.data) + row * x.cols();
      const float largest = *std::max_element(from, from + x.cols());
      float sum = 0;
      for (std::int64_t i = 0; i < x.cols(); ++i) sum += to[i] = std::exp(from[i] - largest);
      for (std::int64_t i = 0; i < x.cols(); ++i) to[i] /= sum;
    }
  };
  return kernel;
}

const ImplementationRegistration on_cpu{{
    .operation = "softmax",
    .name = "three_passes",
    .device = "cpu",
    .dtypes = {Dtype::kFp32},
    .prepare = &prepare_on_cpu,
}};

#ifdef __CUDACC__

constexpr int kThreads = 256;

// Over the values of all threads of a block; every thread gets it.
template <typename Combine>
__device__ float over_block(float value, Combine combine) {
  __shared__ float of_warps[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value = combine(value, __shfl_xor_sync(~0u, value, offset));
  }
  __syncthreads();  // all have read the previous value
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) value = combine(value, of_warps[warp]);
  return value;
}

__device__ float largest_of(float a, float b) { return fmaxf(a, b); }
__device__ float sum_of(float a, float b) { return a + b; }

__device__ void write_row(const __half* x, __half* y, int kv, float largest, float sum) {
  for (int i = threadIdx.x; i < kv; i += kThreads) {
    y[i] = __float2half_rn(__expf(__half2float(x[i]) - largest) / sum);
  }
}

// Reads a row for its largest, again for its sum, and again to write.
__global__ void three_passes(const __half* x, __half* y, int kv) {
  x += static_cast<std::int64_t>(blockIdx.x) * kv;
  y += static_cast<std::int64_t>(blockIdx.x) * kv;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < kv; i += kThreads) largest = fmaxf(largest, __half2float(x[i]));
  largest = over_block(largest, largest_of);
  for (int i = threadIdx.x; i < kv; i += kThreads) sum += __expf(__half2float(x[i]) - largest);
  write_row(x, y, kv, largest, over_block(sum, sum_of));
}

// Keeps the sum by the largest so far, and corrects it when that grows: one pass less. M. Milakov,
// N. Gimelshein, "Online normalizer calculation for softmax", 2018 (arXiv:1805.02867).
__global__ void online(const __half* x, __half* y, int kv) {
  x += static_cast<std::int64_t>(blockIdx.x) * kv;
  y += static_cast<std::int64_t>(blockIdx.x) * kv;
  float own_largest = -INFINITY, own_sum = 0;
  for (int i = threadIdx.x; i < kv; i += kThreads) {
    const float value = __half2float(x[i]);
    const float larger = fmaxf(own_largest, value);
    own_sum = own_sum * __expf(own_largest - larger) + __expf(value - larger);
    own_largest = larger;
  }
  const float largest = over_block(own_largest, largest_of);
  // A thread without an element has nothing to correct.
  const float part = own_sum > 0 ? own_sum * __expf(own_largest - largest) : 0;
  write_row(x, y, kv, largest, over_block(part, sum_of));
}

template <auto kernel_function>
PreparedKernel prepare_on_cuda(Device& device, const Problem&, Inputs in, const Tensor& y) {
  PreparedKernel kernel;
  kernel.stages.push_back(pointwise_work("softmax", 4, {&in[0]}, y));
  kernel.stages.back().launch = [x = in[0], y, stream = cuda_stream(device)] {
    kernel_function<<<static_cast<unsigned>(x.rows()), kThreads, 0, stream>>>(
        static_cast<const __half*>(x.data), static_cast<__half*>(y.data),
        static_cast<int>(x.cols()));
    FUSEGATE_CUDA(cudaGetLastError());
  };
  return kernel;
}

const ImplementationRegistration in_three_passes{{
    .operation = "softmax",
    .name = "three_passes",
    .device = "cuda",
    .dtypes = {Dtype::kFp16},
    .prepare = &prepare_on_cuda<&three_passes>,
}};

const ImplementationRegistration in_two{{
    .operation = "softmax",
    .name = "online",
    .device = "cuda",
    .dtypes = {Dtype::kFp16},
    .prepare = &prepare_on_cuda<&online>,
}};

#endif

}  // namespace
