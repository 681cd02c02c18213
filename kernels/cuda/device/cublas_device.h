// The GPU with cuBLAS: preferred to the plain one where a program links both.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/lt_matmul.h"

namespace fusegate::kernels {

// With cublasLt's fp64 product.
class CublasReference : public CudaReference {
 public:
  CublasReference(const LtContext& context, std::function<Memory(std::size_t)> allocate)
      : CudaReference(context.stream, std::move(allocate)), context_(context) {}
  void matmul(const double* x, const double* w, double* out, std::int64_t m, std::int64_t n,
              std::int64_t k) override;

 private:
  LtContext context_;
};

class CublasDevice : public CudaDevice {
 public:
  explicit CublasDevice(int number = 0);
  ~CublasDevice() override;

  std::map<std::string, std::string> versions() const override;
  ReferenceMath& reference_math() override { return reference_; }

  // Created at the first call; on the stream, in the workspace.
  cublasHandle_t cublas();
  LtContext lt() const { return {cublaslt_, stream(), workspace().data(), workspace().bytes()}; }
  // By LtMatmul::text(), and the algorithm that is required, if one is.
  std::map<std::string, LtChoice>& lt_choices() { return lt_choices_; }

 private:
  cublasLtHandle_t cublaslt_;
  cublasHandle_t cublas_ = nullptr;
  std::map<std::string, LtChoice> lt_choices_;
  CublasReference reference_;
};

}  // namespace fusegate::kernels
