// Planted faults (planted_fault.h) on a GPU: a kernel that writes to an address that is nobody's,
// which breaks the process's context for good, and one that never ends.
#include "bench/measuring/planted_fault.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/cuda.h"

namespace fusegate::bench {
namespace {

__global__ void write_to_nobody(int* address) { *address = 1; }

// word: zero, and stays so.
__global__ void never_end(const volatile int* word) {
  while (*word == 0) __nanosleep(1000);
}

kernels::PreparedKernel prepare(kernels::Device& device, const kernels::Problem& problem,
                                kernels::Inputs in, const kernels::Tensor& out) {
  const cudaStream_t stream = static_cast<kernels::CudaDevice&>(device).stream();
  kernels::PreparedKernel kernel = prepare_fused("cuda", device, problem, in, out);
  switch (next_planted_fault()) {
    case PlantedFault::kNone:
      break;
    case PlantedFault::kMemory:
      kernel.scratch.push_back(device.allocate(kTooManyBytes));
      break;
    case PlantedFault::kAddress:
      kernel.stages.push_back({"faulty", 0, 0, [stream] {
                                 write_to_nobody<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(64));
                                 FUSEGATE_CUDA(cudaGetLastError());
                               }});
      break;
    case PlantedFault::kEndless: {
      kernel.scratch.push_back(device.allocate(sizeof(int)));
      int* const word = static_cast<int*>(kernel.scratch.back().data());
      FUSEGATE_CUDA(cudaMemsetAsync(word, 0, sizeof(int), stream));
      kernel.stages.push_back({"endless", 0, 0, [stream, word] {
                                 never_end<<<1, 1, 0, stream>>>(word);
                                 FUSEGATE_CUDA(cudaGetLastError());
                               }});
      break;
    }
  }
  return kernel;
}

const kernels::ImplementationRegistration registered{{.operation = "geglu",
                                                      .name = "planted_fault",
                                                      .device = "cuda",
                                                      .dtypes = {kernels::Dtype::kBf16},
                                                      .prepare = &prepare}};

}  // namespace
}  // namespace fusegate::bench
