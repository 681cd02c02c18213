// geglu/fused_eager_rounding: gelu and mul in one kernel, gelu(g) rounded before the product as
// eager PyTorch rounds it, where geglu/fused keeps it in fp32. For whoever needs the same bits as
// from two kernels.
#include <utility>

#include "kernels/contract/stages.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/pointwise/pointwise.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  PreparedKernel kernel;
  Stage stage = pointwise_work("gelu_mul", kGeluFlops + 1, {&in[0], &in[1]}, out);
  stage.launch = [g = in[0], u = in[1], out, stream = static_cast<CudaDevice&>(device).stream()] {
    enqueue_rounded_gelu_mul(g, u, out, stream);
  };
  kernel.stages.push_back(std::move(stage));
  return kernel;
}

const ImplementationRegistration registered{{
    .operation = "geglu",
    .name = "fused_eager_rounding",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_gelu_mul()}, .calls = expected_own_launches(1)}},
}};

}  // namespace
}  // namespace fusegate::kernels
