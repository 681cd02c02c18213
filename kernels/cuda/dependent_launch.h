// Launches a kernel so that it may be placed on the GPU before the kernel ahead of it on the stream
// has ended (CUDA Programming Guide, "Programmatic Dependent Launch"), where the GPU can (compute
// capability 9.0, driver 12.3 for graphs): the time between two kernels goes to nothing but the
// wait. Such a kernel must execute griddepcontrol.wait before it touches memory, as
// pointwise_body.cuh's do. Errors of CUDA are thrown as DeviceError.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/cuda/cuda_error.h"

namespace fusegate {

inline bool can_launch_early() {
  static const bool can = [] {
    int device = 0, major = 0, driver = 0;
    FUSEGATE_CUDA(cudaGetDevice(&device));
    FUSEGATE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    FUSEGATE_CUDA(cudaDriverGetVersion(&driver));
    return major >= 9 && driver >= 12030;
  }();
  return can;
}

// kernel: a __global__ function, or a cudaKernel_t as the runtime takes it for one. args: the
// addresses of its arguments.
inline void launch_dependent(const void* kernel, unsigned blocks, unsigned threads,
                             cudaStream_t stream, void** args) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = can_launch_early() ? 1 : 0;
  FUSEGATE_CUDA(cudaLaunchKernelExC(&config, kernel, args));
}

// Params: the kernel's own, which the arguments are converted to.
template <typename... Params>
void launch_dependent(void (*kernel)(Params...), unsigned blocks, unsigned threads,
                      cudaStream_t stream, std::type_identity_t<Params>... args) {
  void* addresses[] = {&args...};
  launch_dependent(reinterpret_cast<const void*>(kernel), blocks, threads, stream, addresses);
}

}  // namespace fusegate
