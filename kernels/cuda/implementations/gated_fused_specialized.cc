// fused_specialized of a gated unit: activation and mul in one kernel that is compiled at run time
// for one shape.
#include <fmt/format.h>

#include <utility>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/pointwise/specialized_gated.h"
#include "kernels/operations/stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(const Activation& activation, Device& device, const Problem&, Inputs in,
                       const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  const SpecializedGated& kernel =
      specialized_gated({activation, out.rows(), out.cols(), out.dtype}, gpu.properties());
  Stage stage = gated_work(activation, {&in[0], &in[1]}, out);
  stage.choice = kernel.choice;
  stage.note = fmt::format("compiled in {:.0f} ms", kernel.compile_ms);
  stage.launch = [&kernel, g = in[0], u = in[1], out, stream = gpu.stream()] {
    kernel.enqueue(g, u, out, stream);
  };
  return {.stages = {stage}};
}

const ImplementationRegistration registered(kActivations, [](const Activation& activation) {
  return Implementation{
      .operation = std::string(activation.unit),
      .name = "fused_specialized",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare = std::bind_front(&prepare, activation),
      .expects = {{.stages = {expected_gated(activation)}, .calls = expected_own_launches(1)}},
  };
});

}  // namespace
}  // namespace fusegate::kernels
