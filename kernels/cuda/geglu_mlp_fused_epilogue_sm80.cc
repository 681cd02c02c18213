// geglu_mlp/fused_epilogue_sm80: two kernels. GeGLU is the epilogue of one product with both the
// gate's and the up's weights, as they are stored, by Ampere's instructions (geglu_gemm_sm80.cuh);
// then the down product.
#include "kernels/cuda/cuda_stages.h"
#include "kernels/cuda/geglu_gemm_sm80.h"

namespace fusegate {
namespace {

Stage gate_up_geglu(CudaDevice& device, const Tensor& x, const Tensor& w_gate, const Tensor& w_up,
                    const Tensor& h) {
  const GegluGemmPlan plan =
      plan_geglu_gemm_sm80(geglu_gemm_size(x, h), gpu_limits(device.properties()));
  prepare_geglu_gemm_sm80(plan, h.dtype);
  Stage stage = gate_up_geglu_work(x, w_gate, w_up, h);
  stage.choice = plan_text(plan);
  stage.launch = [=, stream = device.stream()] {
    enqueue_geglu_gemm_sm80(plan, x, w_gate, w_up, h, stream);
  };
  return stage;
}

PreparedKernel prepare(Device& device, const Problem& problem, Inputs in, const Tensor& out) {
  CudaStages stages(device);
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  kernel.stages.push_back(gate_up_geglu(static_cast<CudaDevice&>(device), in[0], in[1], in[2], h));
  kernel.stages.push_back(stages.matmul("down_proj", h, in[3], nullptr, out));
  return kernel;
}

const ImplementationRegistration registered{{
    .operation = "geglu_mlp",
    .name = "fused_epilogue_sm80",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .alignment = 8,
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate
