// linear/matmul_add on the CPU: a matmul primitive, then a binary one for the bias.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  OnednnStages stages(device);
  return linear_matmul_add(stages, device, in, out);
}

const ImplementationRegistration registered{{
    .operation = "linear",
    .name = "matmul_add",
    .device = "cpu",
    .dtypes = {Dtype::kFp32, Dtype::kBf16},
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate::kernels
