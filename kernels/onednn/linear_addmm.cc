// linear/addmm on the CPU: one matmul primitive that adds the bias.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  OnednnStages stages(device);
  return linear_addmm(stages, in, out);
}

const ImplementationRegistration registered{{
    .operation = "linear",
    .name = "addmm",
    .device = "cpu",
    .dtypes = {Dtype::kFp32, Dtype::kBf16},
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate::kernels
