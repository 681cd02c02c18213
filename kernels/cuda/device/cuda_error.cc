#include <fmt/format.h>

#include <string_view>

#include "kernels/cuda/device/cuda.h"

namespace fusegate::kernels {

void throw_library_error(const char* name, const char* text, const char* call,
                         std::string_view file, const char* function) {
  // Without the folders of the machine that compiled it.
  file.remove_prefix(file.rfind('/') + 1);
  throw DeviceError(fmt::format("{}: {} in {} ({}, {}())", name, text, call, file, function));
}

void throw_cuda_error(cudaError_t status, const char* call, const char* file,
                      const char* function) {
  throw_library_error(cudaGetErrorName(status), cudaGetErrorString(status), call, file, function);
}

}  // namespace fusegate::kernels
