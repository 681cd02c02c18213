// control_copy/memcpy on the CPU: the C library's, on one core.
#include <cstring>

#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(Device&, const Problem&, Inputs in, const Tensor& out) {
  Stage stage = pointwise_work("copy", 0, {&in[0]}, out);
  stage.launch = [x = in[0], out] { std::memcpy(out.data, x.data, x.bytes()); };
  return {.stages = {stage}};
}

const ImplementationRegistration registered{{
    .operation = "control_copy",
    .name = "memcpy",
    .device = "cpu",
    .dtypes = {Dtype::kFp32, Dtype::kBf16},
    .prepare = &prepare,
    .refuses = &refuses_on_cpu,  // as the benchmarks measured with it
}};

}  // namespace
}  // namespace fusegate::kernels
