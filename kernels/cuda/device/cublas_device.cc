#include "kernels/cuda/device/cublas_device.h"

#include <fmt/format.h>

#include "kernels/cuda/device/cublas.h"
#include "kernels/cuda/device/nccl.h"

namespace fusegate::kernels {
namespace {

// Decides which algorithms the heuristic offers, and so what is measured.
constexpr std::size_t kWorkspaceBytes = 32u << 20;

const DeviceRegistration registered{
    {.name = "cuda", .preference = 3, .open = &open_gpu<CublasDevice>, .count = &gpu_count}};

cublasLtHandle_t create_cublaslt() {
  cublasLtHandle_t handle = nullptr;
  FUSEGATE_CUDA(cublasLtCreate(&handle));
  return handle;
}

}  // namespace

void throw_cuda_error(cublasStatus_t status, const char* call, const char* file,
                      const char* function) {
  throw_library_error(cublasLtGetStatusName(status), cublasLtGetStatusString(status), call, file,
                      function);
}

void CublasReference::matmul(const double* x, const double* w, double* out, std::int64_t m,
                             std::int64_t n, std::int64_t k) {
  const LtMatmul product(
      context_, {.m = m, .n = n, .k = k, .type = CUDA_R_64F, .compute = CUBLAS_COMPUTE_64F});
  product.enqueue(x, w, out);
}

CublasDevice::CublasDevice(int number)
    : CudaDevice(number, kWorkspaceBytes),
      cublaslt_(create_cublaslt()),
      reference_(lt(), [this](std::size_t bytes) { return allocate_by_driver(bytes); }) {}

CublasDevice::~CublasDevice() {
  // Errors are ignored: the process is about to end.
  if (cublas_ != nullptr) cublasDestroy(cublas_);
  cublasLtDestroy(cublaslt_);
}

cublasHandle_t CublasDevice::cublas() {
  if (cublas_ == nullptr) {
    FUSEGATE_CUDA(cublasCreate(&cublas_));
    FUSEGATE_CUDA(cublasSetStream(cublas_, stream()));
    // After the stream, since setting that resets the workspace. Without ours, a graph would
    // allocate memory for each captured matmul.
    FUSEGATE_CUDA(cublasSetWorkspace(cublas_, workspace().data(), workspace().bytes()));
  }
  return cublas_;
}

std::map<std::string, std::string> CublasDevice::versions() const {
  std::map<std::string, std::string> versions = CudaDevice::versions();
  const std::size_t cublas = cublasLtGetVersion();
  versions["cublas"] = fmt::format("{}.{}.{}", cublas / 10000, cublas / 100 % 100, cublas % 100);
  // Where it is not installed, kernels that need it say so.
  if (ranks().are_several() && refuses_nccl().empty()) versions["nccl"] = nccl_version();
  return versions;
}

}  // namespace fusegate::kernels
