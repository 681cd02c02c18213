// geglu/fused_specialized: gelu and mul in one kernel that is compiled at run time for one shape.
#include <fmt/format.h>

#include <utility>

#include "kernels/contract/stages.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/pointwise/specialized_gelu_mul.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  const SpecializedGeluMul& kernel =
      specialized_gelu_mul({out.rows, out.cols, out.dtype}, gpu.properties());
  Stage stage = pointwise_work("gelu_mul", kGeluFlops + 1, {&in[0], &in[1]}, out);
  stage.choice = kernel.choice;
  stage.note = fmt::format("compiled in {:.0f} ms", kernel.compile_ms);
  stage.launch = [&kernel, g = in[0], u = in[1], out, stream = gpu.stream()] {
    kernel.enqueue(g, u, out, stream);
  };
  PreparedKernel prepared;
  prepared.stages.push_back(std::move(stage));
  return prepared;
}

const ImplementationRegistration registered{{
    .operation = "geglu",
    .name = "fused_specialized",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_gelu_mul()}, .calls = expected_own_launches(1)}},
}};

}  // namespace
}  // namespace fusegate::kernels
