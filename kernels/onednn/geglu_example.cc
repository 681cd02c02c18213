// README's example of a kernel: geglu/example, in plain C++ on the CPU. It is linked into
// fusegate_bench_faulty alone, whose tests sweep it, and no suite names it.
#include <cmath>

#include "kernels/contract/work.h"

namespace fusegate::kernels {
namespace {

void geglu(const Tensor& g, const Tensor& u, const Tensor& out) {
  const auto* const gate = static_cast<const float*>(g.data);
  const auto* const up = static_cast<const float*>(u.data);
  auto* const result = static_cast<float*>(out.data);
#pragma omp parallel for
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const float x = gate[i];
    result[i] = 0.5f * x * (1 + std::tanh(0.7978846f * (x + 0.044715f * x * x * x))) * up[i];
  }
}

PreparedKernel prepare(Device&, const Problem&, Inputs in, const Tensor& out) {
  PreparedKernel kernel;
  // Its name in traces, and its work: 10 operations an element, each operand read or written once.
  Stage stage = pointwise_work("gelu_mul", 10, {&in[0], &in[1]}, out);
  stage.launch = [g = in[0], u = in[1], out] { geglu(g, u, out); };
  kernel.stages.push_back(std::move(stage));
  return kernel;
}

const ImplementationRegistration registered{{
    .operation = "geglu",
    .name = "example",
    .device = "cpu",
    .dtypes = {Dtype::kFp32},
    .prepare = &prepare,
}};

}  // namespace
}  // namespace fusegate::kernels
