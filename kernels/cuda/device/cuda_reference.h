// The double-precision reference on the GPU: cublasLt's fp64 product and plain kernels. Checked
// against HostReference in its test; there because the reference problem's 116 GFLOP are too many
// for a CPU to do in every process.
#pragma once

#include <functional>
#include <utility>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/lt_matmul.h"

namespace fusegate::kernels {

class CudaReference : public ReferenceMath {
 public:
  // allocate: memory that lies apart from any layout.
  CudaReference(const LtContext& context, std::function<Memory(std::size_t)> allocate)
      : context_(context), allocate_(std::move(allocate)) {}

  void widen(const Tensor& in, double* out) override;
  void copy(const double* in, double* out, std::int64_t count) override;
  void matmul(const double* x, const double* w, double* out, std::int64_t m, std::int64_t n,
              std::int64_t k) override;
  void add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) override;
  // The activation must be one of kernels/activations, whose code is here.
  void gate(const Activation& activation, const double* g, const double* u, double* out,
            std::int64_t count) override;
  void perturb(double* values, std::int64_t count, double unit, std::uint64_t seed) override;
  Errors errors(const Tensor& out, const double* reference, const ErrorScale& scale) override;
  Errors spread(const double* perturbed, const Tensor& like, const double* reference) override;

 private:
  template <typename T>
  void sum_up(const T* out, const double* reference, const ErrorScale& scale, Errors& errors);
  // Of so many bytes at least, kept for the next time.
  void* sums(std::size_t bytes);

  LtContext context_;
  std::function<Memory(std::size_t)> allocate_;
  Memory sums_;
};

}  // namespace fusegate::kernels
