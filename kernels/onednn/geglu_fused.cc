// geglu/fused on the CPU: an eltwise primitive with the product as its post-op.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  OnednnStages stages(device);
  return geglu_fused(stages, in, out);
}

const ImplementationRegistration registered{{
    .operation = "geglu",
    .name = "fused",
    .device = "cpu",
    .dtypes = {Dtype::kFp32, Dtype::kBf16},
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate::kernels
