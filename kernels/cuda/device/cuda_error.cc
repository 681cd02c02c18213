#include <fmt/format.h>

#include <string_view>

#include "kernels/cuda/device/cublas.h"

namespace fusegate::kernels {
namespace {

[[noreturn]] void fail(const char* name, const char* text, const char* call, std::string_view file,
                       int line) {
  // Without the folders of the machine that compiled it.
  file.remove_prefix(file.rfind('/') + 1);
  throw DeviceError(fmt::format("{}: {} in {} ({}:{})", name, text, call, file, line));
}

}  // namespace

void throw_cuda_error(cudaError_t status, const char* call, const char* file, int line) {
  fail(cudaGetErrorName(status), cudaGetErrorString(status), call, file, line);
}

void throw_cuda_error(cublasStatus_t status, const char* call, const char* file, int line) {
  fail(cublasLtGetStatusName(status), cublasLtGetStatusString(status), call, file, line);
}

}  // namespace fusegate::kernels
