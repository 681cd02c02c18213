// fused_pointwise_tuned of a gated MLP: fused_pointwise with the matmuls' algorithms that measure
// fastest.
#include "kernels/activations/activations.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(kActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_pointwise_tuned",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare =
          [activation](Device& device, const Problem& problem, Inputs in, const Tensor& out) {
            CudaStages stages(device, MatmulChoice::kTuned);
            return gated_mlp_fused_pointwise(stages, activation, device, problem, in, out);
          },
      .expects = {expected_pointwise_mlp(activation)},
  };
});

}  // namespace
}  // namespace fusegate::kernels
