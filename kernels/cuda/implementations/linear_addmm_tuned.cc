// linear/addmm_tuned: linear/addmm with the algorithm that measures fastest.
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  CudaStages stages(device, MatmulChoice::kTuned);
  return linear_addmm(stages, in, out);
}

const ImplementationRegistration registered{{
    .operation = "linear",
    .name = "addmm_tuned",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_matmul("addmm")}}},
}};

}  // namespace
}  // namespace fusegate::kernels
