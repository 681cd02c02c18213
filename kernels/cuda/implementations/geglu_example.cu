// README's example of a kernel for a GPU: geglu/example. It is linked into fusegate_bench_faulty
// alone, whose tests sweep it, and no suite names it.
#include "kernels/activations/gelu_tanh.h"
#include "kernels/contract/work.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/element.cuh"

namespace fusegate::kernels {
namespace {

template <typename T>
__global__ void geglu(const T* g, const T* u, T* out, std::int64_t count) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i < count) out[i] = from_float<T>(GeluTanh::of(to_float(g[i])) * to_float(u[i]));
}

void enqueue(const Tensor& g, const Tensor& u, const Tensor& out, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((out.count() + kThreads - 1) / kThreads);
  dispatch_dtype(out.dtype, [&]<typename T>() {
    geglu<<<blocks, kThreads, 0, stream>>>(static_cast<const T*>(g.data),
                                           static_cast<const T*>(u.data), static_cast<T*>(out.data),
                                           out.count());
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  PreparedKernel kernel;
  Stage stage = pointwise_work("gelu_mul", GeluTanh::kFlops + 1, {&in[0], &in[1]}, out);
  stage.launch = [g = in[0], u = in[1], out, stream = static_cast<CudaDevice&>(device).stream()] {
    enqueue(g, u, out, stream);
  };
  kernel.stages.push_back(std::move(stage));
  return kernel;
}

const ImplementationRegistration registered{{
    .operation = "geglu",
    .name = "example",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate::kernels
