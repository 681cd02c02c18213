// geglu_mlp/fused_epilogue on the CPU: gelu and mul as post-ops of the gate matmul, so that neither
// g nor gelu(g) is ever written.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem& problem, Inputs in, const Tensor& out) {
  OnednnStages stages(device);
  PreparedKernel kernel;
  const Tensor u = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  kernel.stages.push_back(stages.matmul("up_proj", in[0], in[2], nullptr, u));
  kernel.stages.push_back(stages.matmul_gelu_mul("gate_proj_gelu_mul", in[0], in[1], u, h));
  kernel.stages.push_back(stages.matmul("down_proj", h, in[3], nullptr, out));
  return kernel;
}

const ImplementationRegistration registered{{
    .operation = "geglu_mlp",
    .name = "fused_epilogue",
    .device = "cpu",
    .dtypes = {Dtype::kFp32, Dtype::kBf16},
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate::kernels
