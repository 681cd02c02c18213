// A CUDA kernel that writes to an address that is nobody's, which breaks the process's context for
// good: built into fusegate_bench_faulty alone.
#include "kernels/contract/kernel.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/cuda_error.h"

namespace fusegate::bench {
namespace {

__global__ void write_to_nobody(int* address) { *address = 1; }

kernels::PreparedKernel prepare(kernels::Device& device, const kernels::Problem&,
                                std::span<const kernels::Tensor>, const kernels::Tensor&) {
  kernels::PreparedKernel kernel;
  kernel.stages.push_back({.name = "faulty",
                           .flops = 0,
                           .min_bytes = 0,
                           .launch =
                               [stream = static_cast<kernels::CudaDevice&>(device).stream()] {
                                 write_to_nobody<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(64));
                                 FUSEGATE_CUDA(cudaGetLastError());
                               },
                           .choice = {}});
  return kernel;
}

const kernels::ImplementationRegistration registered{{.operation = "geglu",
                                                      .name = "faulty_address",
                                                      .device = "cuda",
                                                      .dtypes = {kernels::Dtype::kBf16},
                                                      .prepare = &prepare}};

}  // namespace
}  // namespace fusegate::bench
