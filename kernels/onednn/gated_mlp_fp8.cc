// unfused of an fp8 MLP on the CPU, in plain C++, for tests without a GPU.
#include <functional>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/contract/number_format.h"
#include "kernels/operations/fp8_mlp_on_host.h"
#include "kernels/operations/stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(const Activation& activation, Fp8Scales scales, Device&,
                       const LadderProblem& problem, Inputs in, const Tensor& out) {
  const Tensor h{nullptr, {problem.rows(), problem.hidden}, problem.dtype};
  Stage stage = gate_up_work(activation, in[kX], in[kGate], in[kUp], h);
  stage.flops += matmul_work("", h, in[kDown], out).flops;
  stage.name = "mlp";
  stage.launch = [=, in = std::vector<Tensor>(in.begin(), in.end())] {
    const std::vector<float> values = fp8_mlp_on_host(activation, scales, problem, in);
    for (std::size_t i = 0; i < values.size(); ++i) {
      store_element(out.data, out.dtype, static_cast<std::int64_t>(i), values[i]);
    }
  };
  return {.stages = {stage}};
}

template <Fp8Scales kScales>
const ImplementationRegistration kRegistered(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = fp8_mlp(activation, kScales),
      .name = "unfused",
      .device = "cpu",
      .dtypes = {Dtype::kFp8E4m3},
      .prepare = std::bind_front(&prepare, activation, kScales),
  };
});
template const ImplementationRegistration kRegistered<Fp8Scales::kTensor>;
template const ImplementationRegistration kRegistered<Fp8Scales::kRow>;
template const ImplementationRegistration kRegistered<Fp8Scales::kBlock>;

}  // namespace
}  // namespace fusegate::kernels
