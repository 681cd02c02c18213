#include "kernels/cuda/device/cuda_error.h"

#include <fmt/format.h>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

void throw_cuda_error(cudaError_t status, const char* call) {
  throw DeviceError(
      fmt::format("{}: {} in {}", cudaGetErrorName(status), cudaGetErrorString(status), call));
}

void throw_cuda_error(cublasStatus_t status, const char* call) {
  throw DeviceError(fmt::format("{}: {} in {}", cublasLtGetStatusName(status),
                                cublasLtGetStatusString(status), call));
}

}  // namespace fusegate::kernels
