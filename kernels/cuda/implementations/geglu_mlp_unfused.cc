// geglu_mlp/unfused: the five kernels of an eager GeGLU MLP.
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem& problem, Inputs in, const Tensor& out) {
  CudaStages stages(device);
  return geglu_mlp_unfused(stages, device, problem, in, out);
}

const ImplementationRegistration registered{{
    .operation = "geglu_mlp",
    .name = "unfused",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_matmul("gate_proj"), expected_matmul("up_proj"),
                            expected_gelu(), expected_mul(), expected_matmul("down_proj")}}},
}};

}  // namespace
}  // namespace fusegate::kernels
