// The double-precision reference on the GPU: plain kernels. cublas_device.h adds the matrix
// product. A CPU is too slow for large problems (116 GFLOP) in every process. Tested against
// HostReference.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <utility>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

class CudaReference : public ReferenceMath {
 public:
  // allocate: memory outside any memory layout.
  CudaReference(cudaStream_t stream, std::function<Memory(std::size_t)> allocate)
      : stream_(stream), allocate_(std::move(allocate)) {}

  void widen(const Tensor& in, double* out) override;
  void copy(const double* in, double* out, std::int64_t count) override;
  // Throws DeviceError.
  void matmul(const double* x, const double* w, double* out, std::int64_t m, std::int64_t n,
              std::int64_t k) override;
  void add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) override;
  // activation: one of kernels/activations.
  void gate(const Activation& activation, const double* g, const double* u, double* out,
            std::int64_t count) override;
  void gate_backward(const Activation& activation, const ReferenceBackward& unit,
                     std::int64_t count) override;
  void transpose(const double* in, double* out, std::int64_t rows, std::int64_t cols) override;
  void apply_scales(const ScaleBlocks& blocks, const double* scales, double* x, std::int64_t m,
                    std::int64_t n) override;
  void perturb(double* values, std::int64_t count, double unit, std::uint64_t seed) override;
  Errors errors(const Tensor& out, const double* reference, const ErrorScale& scale) override;
  Errors spread(const double* perturbed, const Tensor& like, const double* reference,
                std::int64_t repeats) override;

 private:
  void sum_up(const void* out, Dtype dtype, const double* reference, const ErrorScale& scale,
              Errors& errors);
  // Memory of at least so many bytes, used again by the next call.
  void* sums(std::size_t bytes);

  cudaStream_t stream_;
  std::function<Memory(std::size_t)> allocate_;
  Memory sums_;
};

}  // namespace fusegate::kernels
