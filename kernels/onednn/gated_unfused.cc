// A gated unit, unfused, on the CPU: an eltwise primitive, then a binary one.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(onednn_activations(), [](const Activation& activation) {
  return Implementation{
      .operation = std::string(activation.unit),
      .name = "unfused",
      .device = "cpu",
      .dtypes = {Dtype::kFp32, Dtype::kBf16},
      .prepare =
          [activation](Device& device, const Problem&, Inputs in, const Tensor& out) {
            OnednnStages stages(device);
            return gated_unfused(stages, activation, device, in, out);
          },
  };
});

}  // namespace
}  // namespace fusegate::kernels
