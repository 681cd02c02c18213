// linear/addmm: one cublasLt matmul with the bias in its epilogue, as torch.nn.Linear runs it.
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  CudaStages stages(device);
  return linear_addmm(stages, in, out);
}

const ImplementationRegistration registered{{
    .operation = "linear",
    .name = "addmm",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_matmul("addmm")}}},
}};

}  // namespace
}  // namespace fusegate::kernels
