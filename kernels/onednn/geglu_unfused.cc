// geglu/unfused on the CPU: an eltwise primitive, then a binary one.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  OnednnStages stages(device);
  return geglu_unfused(stages, device, in, out);
}

const ImplementationRegistration registered{{
    .operation = "geglu",
    .name = "unfused",
    .device = "cpu",
    .dtypes = {Dtype::kFp32, Dtype::kBf16},
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate::kernels
