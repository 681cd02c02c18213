// The GPU's stages: cublasLt matmuls and our own element-wise kernels.
#pragma once

#include <string>

#include "kernels/cuda/cuda_device.h"
#include "kernels/stages.h"

namespace fusegate {

class CudaStages : public StageLibrary {
 public:
  explicit CudaStages(Device& device) : device_(static_cast<CudaDevice&>(device)) {}

  Stage matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor* bias,
               const Tensor& out) override;
  Stage bias_add(std::string name, const Tensor& x, const Tensor& bias, const Tensor& out) override;
  Stage gelu(std::string name, const Tensor& x, const Tensor& out) override;
  Stage mul(std::string name, const Tensor& a, const Tensor& b, const Tensor& out) override;
  Stage gelu_mul(std::string name, const Tensor& g, const Tensor& u, const Tensor& out) override;

 private:
  CudaDevice& device_;
};

}  // namespace fusegate
