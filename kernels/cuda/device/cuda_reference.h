// The double-precision reference on the GPU: cublasLt's fp64 product and plain kernels. Checked
// against HostReference in its test; there because the reference problem's 116 GFLOP are too many
// for a CPU to do in every process.
#pragma once

#include <utility>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/lt_matmul.h"

namespace fusegate::kernels {

class CudaReference : public ReferenceMath {
 public:
  // Of the sums that compare() makes.
  static constexpr std::size_t kSumsBytes = 4 * sizeof(double);

  CudaReference(const LtContext& context, Memory sums)
      : context_(context), sums_(std::move(sums)) {}

  void widen(const Tensor& in, double* out) override;
  void copy(const double* in, double* out, std::int64_t count) override;
  void matmul(const double* x, const double* w, double* out, std::int64_t m, std::int64_t n,
              std::int64_t k) override;
  void add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) override;
  // The activation must be one of kernels/activations, whose code is here.
  void gate(const Activation& activation, const double* g, const double* u, double* out,
            std::int64_t count) override;
  ErrorNorms compare(const Tensor& out, const double* reference) override;

 private:
  LtContext context_;
  Memory sums_;
};

}  // namespace fusegate::kernels
