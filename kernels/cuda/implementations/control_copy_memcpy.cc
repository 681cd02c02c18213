// control_copy/memcpy: the driver's copy from device memory to device memory.
#include "kernels/contract/work.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_device.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  Stage stage = pointwise_work("copy", 0, {&in[0]}, out);
  stage.launch = [x = in[0], out, stream = static_cast<CudaDevice&>(device).stream()] {
    FUSEGATE_CUDA(cudaMemcpyAsync(out.data, x.data, x.bytes(), cudaMemcpyDeviceToDevice, stream));
  };
  return {.stages = {stage}};
}

const ImplementationRegistration registered{{
    .operation = "control_copy",
    .name = "memcpy",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {{.name = "copy",
                             .kernels = {},
                             .least_memory_operations = 1,
                             .most_memory_operations = 1}}}},
}};

}  // namespace
}  // namespace fusegate::kernels
