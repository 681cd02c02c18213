// The one macro that checks CUDA's return codes. A failed call throws DeviceError with the call's
// text and the library's own words.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <string>

namespace fusegate::kernels {

[[noreturn]] void throw_cuda_error(cudaError_t status, const char* call);
[[noreturn]] void throw_cuda_error(cublasStatus_t status, const char* call);

}  // namespace fusegate::kernels

#define FUSEGATE_CUDA(call)                                        \
  do {                                                             \
    const auto fusegate_status = (call);                           \
    if (static_cast<int>(fusegate_status) != 0)                    \
      fusegate::kernels::throw_cuda_error(fusegate_status, #call); \
  } while (false)
