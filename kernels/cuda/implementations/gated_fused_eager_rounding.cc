// fused_eager_rounding of a gated unit: activation and mul in one kernel, activation(g) rounded
// before the product as eager PyTorch rounds it, where fused keeps it in fp32. Gives the same
// bits as two kernels.
#include "kernels/activations/activations.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/pointwise/pointwise.h"
#include "kernels/operations/stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(const Activation& activation, Device& device, const Problem&, Inputs in,
                       const Tensor& out) {
  Stage stage = gated_work(activation, {&in[0], &in[1]}, out);
  stage.launch = [activation, g = in[0], u = in[1], out,
                  stream = static_cast<CudaDevice&>(device).stream()] {
    enqueue_rounded_gated(activation, g, u, out, stream);
  };
  return {.stages = {stage}};
}

const ImplementationRegistration registered(kActivations, [](const Activation& activation) {
  return Implementation{
      .operation = std::string(activation.unit),
      .name = "fused_eager_rounding",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare = std::bind_front(&prepare, activation),
      .expects = {{.stages = {expected_gated(activation)}, .calls = expected_own_launches(1)}},
  };
});

}  // namespace
}  // namespace fusegate::kernels
