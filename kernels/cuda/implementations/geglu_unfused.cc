// geglu/unfused: a GeLU kernel and a mul kernel, with gelu(g) through device memory.
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  CudaStages stages(device);
  return geglu_unfused(stages, device, in, out);
}

const ImplementationRegistration registered{{
    .operation = "geglu",
    .name = "unfused",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_gelu(), expected_mul()}, .calls = expected_own_launches(2)}},
}};

}  // namespace
}  // namespace fusegate::kernels
