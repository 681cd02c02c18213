// fused_epilogue of a gated MLP: the fused epilogue that suits the device and the problem. Where a
// product with the unit in its epilogue cannot compute the problem, or loses to four kernels, it is
// the four kernels with tuned matmuls.
#include "kernels/activations/activations.h"
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

PreparedKernel prepare(const Activation& activation, Device& device, const Problem& problem,
                       Inputs in, const Tensor& out) {
  if (is_aligned(problem)) {
    if (problem.rows() <= kMostFewRows) {
      return prepare_fused_epilogue_few_rows(activation, device, problem, in, out);
    }
    if (refuses_sm90(device).empty())
      return prepare_fused_epilogue_sm90(activation, device, problem, in, out);
    // By mma.sync, which from 9.0 on reaches no more than half of the tensor cores' rate.
    if (static_cast<CudaDevice&>(device).properties().major == 8)
      return prepare_fused_epilogue_sm80(activation, device, problem, in, out);
  }
  CudaStages stages(device, MatmulChoice::kTuned);
  return gated_mlp_fused_pointwise(stages, activation, device, problem, in, out);
}

const ImplementationRegistration registered(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_epilogue",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare = std::bind_front(&prepare, activation),
      .expects = {expected_epilogue_mlp(activation), expected_pointwise_mlp(activation)},
  };
});

}  // namespace
}  // namespace fusegate::kernels
