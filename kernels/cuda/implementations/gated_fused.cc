// A gated unit, fused: activation and mul in one kernel.
#include "kernels/activations/activations.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(kActivations, [](const Activation& activation) {
  return Implementation{
      .operation = std::string(activation.unit),
      .name = "fused",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare =
          [activation](Device& device, const Problem&, Inputs in, const Tensor& out) {
            CudaStages stages(device);
            return gated_fused(stages, activation, in, out);
          },
      .expects = {{.stages = {expected_gated(activation)}, .calls = expected_own_launches(1)}},
  };
});

}  // namespace
}  // namespace fusegate::kernels
