// For kernels on a GPU: a device's stream, and the check of CUDA's return codes. A failed call
// throws DeviceError with file, line, the call and CUDA's message.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// The stream for all launches. Throws DeviceError where the device is not a GPU.
cudaStream_t cuda_stream(const Device& device);

// name, text: of the error, by the library that call is of.
[[noreturn]] void throw_library_error(const char* name, const char* text, const char* call,
                                      std::string_view file, const char* function);
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* call, const char* file,
                                   const char* function);

}  // namespace fusegate::kernels

#define FUSEGATE_CUDA(call)                                                            \
  do {                                                                                 \
    const auto fusegate_status = (call);                                               \
    if (static_cast<int>(fusegate_status) != 0)                                        \
      fusegate::kernels::throw_cuda_error(fusegate_status, #call, __FILE__, __func__); \
  } while (false)
