// A gated MLP, unfused, on the CPU: five primitives.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(onednn_activations(), [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "unfused",
      .device = "cpu",
      .dtypes = {Dtype::kFp32, Dtype::kBf16},
      .prepare =
          [activation](Device& device, const Problem& problem, Inputs in, const Tensor& out) {
            OnednnStages stages(device);
            return gated_mlp_unfused(stages, activation, device, problem, in, out);
          },
  };
});

}  // namespace
}  // namespace fusegate::kernels
