// A gated unit, fused, on the CPU: a binary primitive with the activation and the product as
// post-ops.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(onednn_activations(), [](const Activation& activation) {
  return Implementation{
      .operation = std::string(activation.unit),
      .name = "fused",
      .device = "cpu",
      .dtypes = {Dtype::kFp32, Dtype::kBf16},
      .prepare =
          [activation](Device& device, const Problem&, Inputs in, const Tensor& out) {
            OnednnStages stages(device);
            return gated_fused(stages, activation, in, out);
          },
  };
});

}  // namespace
}  // namespace fusegate::kernels
