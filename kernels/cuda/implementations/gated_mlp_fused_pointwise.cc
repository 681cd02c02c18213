// fused_pointwise of a gated MLP: four kernels, activation and mul in one, as Inductor and Liger
// fuse them.
#include "kernels/activations/activations.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(kActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_pointwise",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare =
          [activation](Device& device, const Problem& problem, Inputs in, const Tensor& out) {
            CudaStages stages(device);
            return gated_mlp_fused_pointwise(stages, activation, device, problem, in, out);
          },
      .expects = {expected_pointwise_mlp(activation)},
  };
});

}  // namespace
}  // namespace fusegate::kernels
