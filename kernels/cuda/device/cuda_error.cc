#include <fmt/format.h>

#include <string_view>

#include "kernels/cuda/device/cuda.h"

namespace fusegate::kernels {

void throw_library_error(const char* name, const char* text, const char* call,
                         std::string_view file, int line) {
  // Without the folders of the machine that compiled it.
  file.remove_prefix(file.rfind('/') + 1);
  throw DeviceError(fmt::format("{}: {} in {} ({}:{})", name, text, call, file, line));
}

void throw_cuda_error(cudaError_t status, const char* call, const char* file, int line) {
  throw_library_error(cudaGetErrorName(status), cudaGetErrorString(status), call, file, line);
}

}  // namespace fusegate::kernels
