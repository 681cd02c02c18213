// control_gemm/onednn on the CPU: one matmul primitive.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  return {.stages = {OnednnStages(device).matmul("matmul", in[0], in[1], nullptr, out)}};
}

const ImplementationRegistration registered{{
    .operation = "control_gemm",
    .name = "onednn",
    .device = "cpu",
    .dtypes = {Dtype::kFp32, Dtype::kBf16},
    .prepare = &prepare,
    .refuses = &refuses_on_cpu,
}};

}  // namespace
}  // namespace fusegate::kernels
