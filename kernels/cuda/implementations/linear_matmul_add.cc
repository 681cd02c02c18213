// linear/matmul_add: a GEMM, then a kernel that adds the bias.
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  CudaStages stages(device);
  return linear_matmul_add(stages, device, in, out);
}

const ImplementationRegistration registered{{
    .operation = "linear",
    .name = "matmul_add",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_matmul("matmul"), expected_bias_add()}}},
}};

}  // namespace
}  // namespace fusegate::kernels
