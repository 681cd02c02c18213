// geglu_mlp/fused_pointwise_tuned: geglu_mlp/fused_pointwise with the matmuls' algorithms that
// measure fastest.
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem& problem, Inputs in, const Tensor& out) {
  CudaStages stages(device, MatmulChoice::kTuned);
  return geglu_mlp_fused_pointwise(stages, device, problem, in, out);
}

const ImplementationRegistration registered{{
    .operation = "geglu_mlp",
    .name = "fused_pointwise_tuned",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {expected_pointwise_mlp()},
}};

}  // namespace
}  // namespace fusegate::kernels
