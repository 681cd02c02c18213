#include "kernels/cuda/device/driver_function.h"

#include <cuda_runtime_api.h>

namespace fusegate::kernels {

void* driver_function(const char* name, [[maybe_unused]] unsigned since) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, since, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess) cudaGetLastError();  // would fail the next launch's check
  return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : nullptr;
}

}  // namespace fusegate::kernels
