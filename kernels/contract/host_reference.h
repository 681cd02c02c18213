// ReferenceMath in plain C++, on host addresses. The GPU's own is tested against it.
#pragma once

#include "kernels/contract/device.h"

namespace fusegate::kernels {

class HostReference : public ReferenceMath {
 public:
  void widen(const Tensor& in, double* out) override;
  void copy(const double* in, double* out, std::int64_t count) override;
  void matmul(const double* x, const double* w, double* out, std::int64_t m, std::int64_t n,
              std::int64_t k) override;
  void add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) override;
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
};

}  // namespace fusegate::kernels
