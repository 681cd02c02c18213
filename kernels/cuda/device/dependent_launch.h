// Launches a kernel so that its blocks may start before the kernel ahead of it on the stream has
// ended (CUDA Programming Guide, "Programmatic Dependent Launch"), which hides the cost of the
// launch. Errors of CUDA are thrown as DeviceError.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/cuda/device/cuda.h"

namespace fusegate::kernels {

struct LaunchShape {
  dim3 blocks;
  dim3 threads;  // a block
  // Dynamic; above 48 KiB only after allow_shared_bytes().
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;  // neighbouring blocks along x
  // Only for a kernel that executes griddepcontrol.wait before it writes, and before it reads what
  // the kernel ahead of it may have written.
  bool early = false;
};

// Whether a kernel whose source has griddepcontrol.wait may be launched early on this device. Code
// for less than 9.0, which newer devices run too, is compiled without the wait; graphs support
// early launches from CUDA 12.3 on.
inline bool can_launch_early(const void* kernel) {
  constexpr int kLeastArchitecture = 90, kLeastDriver = 12030;
  cudaFuncAttributes attributes{};
  int driver = 0;
  FUSEGATE_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  FUSEGATE_CUDA(cudaDriverGetVersion(&driver));
  return attributes.ptxVersion >= kLeastArchitecture &&
         attributes.binaryVersion >= kLeastArchitecture && driver >= kLeastDriver;
}

// Once before a kernel is launched with more than 48 KiB of dynamic shared memory.
inline void allow_shared_bytes(const void* kernel, int bytes) {
  FUSEGATE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

// The same once where a plan counts on as many blocks an SM as shared memory allows at most.
inline void prefer_shared_memory(const void* kernel) {
  FUSEGATE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared));
}

// Clusters that fit at one time: fewer than SMs / cluster where a group of SMs has a number of them
// that is no multiple of it. shape.blocks need not be set.
inline int resident_clusters(const void* kernel, const LaunchShape& shape) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = shape.cluster;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int count = 0;
  FUSEGATE_CUDA(cudaOccupancyMaxActiveClusters(&count, kernel, &config));
  return count;
}

// kernel: a __global__ function, or a cudaKernel_t. args: the addresses of its arguments.
inline void launch_kernel(const void* kernel, const LaunchShape& shape, cudaStream_t stream,
                          void** args) {
  cudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (shape.early) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {shape.cluster, 1, 1};
  }
  cudaLaunchConfig_t config{};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  FUSEGATE_CUDA(cudaLaunchKernelExC(&config, kernel, args));
}

// Params: the kernel's own, which the arguments are converted to. None may have padding: its bytes
// differ between launches, so that identical arguments would look different
// (docs/how-it-decides.md).
template <typename... Params>
void launch_kernel(void (*kernel)(Params...), const LaunchShape& shape, cudaStream_t stream,
                   std::type_identity_t<Params>... args) {
  static_assert(
      (... && (!std::is_class_v<Params> || std::has_unique_object_representations_v<Params>)),
      "an argument may have padding (or has floating-point members, which look the same)");
  void* addresses[] = {&args...};
  launch_kernel(reinterpret_cast<const void*>(kernel), shape, stream, addresses);
}

}  // namespace fusegate::kernels
