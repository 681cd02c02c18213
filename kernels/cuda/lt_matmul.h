// One cublasLt matmul, out [m, n] = x [m, k] w [n, k]^T (+ bias [n]), all row-major, as a Linear
// layer wants it. The algorithm is the heuristic's first choice for the device's workspace, fixed
// when the object is made, and can be told: two processes that were given different ones can be
// told apart.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>

#include "kernels/cuda/cuda_device.h"

namespace fusegate {

struct LtMatmulShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  cudaDataType_t type = CUDA_R_16BF;  // of x, w, out and bias
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  const void* bias = nullptr;  // device address of n elements; null for none
};

cudaDataType_t cuda_data_type(Dtype dtype);

class LtMatmul {
 public:
  // Throws DeviceError where cublasLt has no algorithm for the shape.
  LtMatmul(CudaDevice& device, const LtMatmulShape& shape);

  void enqueue(const void* x, const void* w, void* out) const;
  // Such as "algo 66, tile 18, stages 36, split-k 1, ...": cublasLt's numbers of its own.
  std::string algorithm() const;

 private:
  template <typename T>
  using Handle = std::unique_ptr<T, cublasStatus_t (*)(T*)>;

  CudaDevice& device_;
  bool double_precision_;
  Handle<cublasLtMatmulDescOpaque_t> operation_;
  Handle<cublasLtMatrixLayoutOpaque_t> w_, x_, out_;
  cublasLtMatmulAlgo_t algo_{};
};

}  // namespace fusegate
