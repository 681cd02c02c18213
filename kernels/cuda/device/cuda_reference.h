// The double-precision reference on the GPU: cublasLt's fp64 product and plain kernels. Checked
// against HostReference in its test; there because the reference problem's 116 GFLOP are too many
// for a CPU to do in every process.
#pragma once

#include "kernels/cuda/device/cuda_device.h"

namespace fusegate::kernels {

class CudaReference : public ReferenceMath {
 public:
  explicit CudaReference(CudaDevice& device) : device_(device) {}

  void widen(const Tensor& in, double* out) override;
  void copy(const double* in, double* out, std::int64_t count) override;
  void matmul(const double* x, const double* w, double* out, std::int64_t m, std::int64_t n,
              std::int64_t k) override;
  void add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) override;
  void geglu(const double* g, const double* u, double* out, std::int64_t count) override;
  ErrorNorms compare(const Tensor& out, const double* reference) override;

 private:
  CudaDevice& device_;
};

}  // namespace fusegate::kernels
