#include "kernels/contract/random.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/fill.h"

namespace fusegate::kernels {
namespace {

template <typename F>
__device__ void for_each_index(std::int64_t count, F&& f) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    f(i);
  }
}

__global__ void fill_kernel(void* data, Dtype dtype, std::int64_t count, FillNumbers numbers,
                            std::uint64_t seed) {
  for_each_index(count, [=](std::int64_t i) {
    store_rounded(data, dtype, i, numbers.at(seed, static_cast<std::uint64_t>(i)));
  });
}

// Sums of hashes are the same in any order.
__global__ void digest_kernel(const unsigned char* bytes, std::int64_t count,
                              unsigned long long* sum) {
  unsigned long long own = 0;
  for_each_index(
      count, [&](std::int64_t i) { own += random_bits(bytes[i], static_cast<std::uint64_t>(i)); });
  for (int offset = 16; offset > 0; offset /= 2) own += __shfl_down_sync(~0u, own, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

}  // namespace

void enqueue_fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed, cudaStream_t stream) {
  if (tensor.count() == 0) return;
  fill_kernel<<<grid_blocks(tensor.count()), kThreads, 0, stream>>>(
      tensor.data, tensor.dtype, tensor.count(), FillNumbers(fill), seed);
  FUSEGATE_CUDA(cudaGetLastError());
}

void enqueue_digest(const Tensor& tensor, unsigned long long* sum, cudaStream_t stream) {
  const auto bytes = static_cast<std::int64_t>(tensor.bytes());
  if (bytes == 0) return;
  digest_kernel<<<grid_blocks(bytes), kThreads, 0, stream>>>(
      static_cast<const unsigned char*>(tensor.data), bytes, sum);
  FUSEGATE_CUDA(cudaGetLastError());
}

}  // namespace fusegate::kernels
