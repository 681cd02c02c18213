// geglu/fused: gelu and mul in one kernel.
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  CudaStages stages(device);
  return geglu_fused(stages, in, out);
}

const ImplementationRegistration registered{{
    .operation = "geglu",
    .name = "fused",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_gelu_mul()}, .calls = expected_own_launches(1)}},
}};

}  // namespace
}  // namespace fusegate::kernels
