// geglu_mlp/fused_epilogue: the fused epilogue that suits the device and the problem. Where a
// product with GeGLU in its epilogue cannot compute the problem, or loses to four kernels, it is
// the four kernels with tuned matmuls.
#include "kernels/cuda/few_rows/few_rows_plan.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/implementations/fused_epilogue.h"

namespace fusegate::kernels {
namespace {

bool is_aligned(const Problem& problem) {
  return problem.dim % kFusedEpilogueAlignment == 0 &&
         problem.hidden % kFusedEpilogueAlignment == 0;
}

PreparedKernel prepare(Device& device, const Problem& problem, Inputs in, const Tensor& out) {
  if (is_aligned(problem)) {
    if (problem.rows() <= kMostFewRows) {
      return prepare_fused_epilogue_few_rows(device, problem, in, out);
    }
    if (refuses_sm90(device).empty()) return prepare_fused_epilogue_sm90(device, problem, in, out);
    // By mma.sync, which from 9.0 on reaches no more than half of the tensor cores' rate.
    if (static_cast<CudaDevice&>(device).properties().major == 8)
      return prepare_fused_epilogue_sm80(device, problem, in, out);
  }
  CudaStages stages(device, MatmulChoice::kTuned);
  return geglu_mlp_fused_pointwise(stages, device, problem, in, out);
}

const ImplementationRegistration registered{{
    .operation = "geglu_mlp",
    .name = "fused_epilogue",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_own_matmul("gate_up_geglu"),
                            expected_fastest_matmul("down_proj")}},
                expected_pointwise_mlp()},
}};

}  // namespace
}  // namespace fusegate::kernels
