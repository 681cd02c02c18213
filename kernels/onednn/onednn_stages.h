// The CPU's stages as oneDNN primitives. Versions 2 (Debian 12) and 3 of oneDNN differ in how a
// primitive is described; only onednn_stages.cc knows.
#pragma once

#include <string>

#include "kernels/contract/stages.h"
#include "kernels/onednn/cpu_device.h"

namespace fusegate::kernels {

class OnednnStages : public StageLibrary {
 public:
  explicit OnednnStages(Device& device) : device_(static_cast<CpuDevice&>(device)) {}

  Stage matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor* bias,
               const Tensor& out) override;
  // out = gelu_tanh(x w^T) * multiplier, gelu and mul as post-ops of the matmul.
  Stage matmul_gelu_mul(std::string name, const Tensor& x, const Tensor& w,
                        const Tensor& multiplier, const Tensor& out);
  Stage bias_add(std::string name, const Tensor& x, const Tensor& bias, const Tensor& out) override;
  Stage gelu(std::string name, const Tensor& x, const Tensor& out) override;
  Stage mul(std::string name, const Tensor& a, const Tensor& b, const Tensor& out) override;
  Stage gelu_mul(std::string name, const Tensor& g, const Tensor& u, const Tensor& out) override;

 private:
  CpuDevice& device_;
};

}  // namespace fusegate::kernels
