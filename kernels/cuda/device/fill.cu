#include "kernels/contract/random.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/fill.h"

namespace fusegate::kernels {
namespace {

template <typename T>
__global__ void fill_uniform_kernel(T* data, std::int64_t count, float scale, std::uint64_t seed) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    data[i] = from_float<T>(scale * random_uniform(seed, static_cast<std::uint64_t>(i)));
  }
}

}  // namespace

void fill_uniform(const Tensor& tensor, float scale, std::uint64_t seed, cudaStream_t stream) {
  if (tensor.count() == 0) return;
  dispatch_dtype(tensor.dtype, [&]<typename T>() {
    fill_uniform_kernel<<<grid_blocks(tensor.count()), kThreads, 0, stream>>>(
        static_cast<T*>(tensor.data), tensor.count(), scale, seed);
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

}  // namespace fusegate::kernels
