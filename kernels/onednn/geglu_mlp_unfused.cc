// geglu_mlp/unfused on the CPU: five primitives.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem& problem, Inputs in, const Tensor& out) {
  OnednnStages stages(device);
  return geglu_mlp_unfused(stages, device, problem, in, out);
}

const ImplementationRegistration registered{{
    .operation = "geglu_mlp",
    .name = "unfused",
    .device = "cpu",
    .dtypes = {Dtype::kFp32, Dtype::kBf16},
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate::kernels
