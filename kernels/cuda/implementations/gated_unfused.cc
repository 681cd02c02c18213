// A gated unit, unfused: the activation in a kernel and mul in one, with activation(g) through
// device memory.
#include "kernels/activations/activations.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(kActivations, [](const Activation& activation) {
  return Implementation{
      .operation = std::string(activation.unit),
      .name = "unfused",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare =
          [activation](Device& device, const Problem&, Inputs in, const Tensor& out) {
            CudaStages stages(device);
            return gated_unfused(stages, activation, device, in, out);
          },
      .expects = {{.stages = {expected_activation(activation), expected_mul()},
                   .calls = expected_own_launches(2)}},
  };
});

}  // namespace
}  // namespace fusegate::kernels
