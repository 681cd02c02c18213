// A gated MLP with a fused epilogue on the CPU: activation and mul as post-ops of the gate matmul,
// so that neither g nor activation(g) is written.
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(onednn_activations(), [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_epilogue",
      .device = "cpu",
      .dtypes = {Dtype::kFp32, Dtype::kBf16},
      .prepare =
          [activation](Device& device, const LadderProblem& problem, Inputs in, const Tensor& out) {
            OnednnStages stages(device);
            PreparedKernel kernel;
            const auto take = [&] {
              return kernel.intermediate(device, {problem.rows(), problem.hidden}, problem.dtype);
            };
            const Tensor u = take(), h = take();
            kernel.stages.push_back(stages.matmul("up_proj", in[0], in[2], nullptr, u));
            kernel.stages.push_back(stages.matmul_gated(activation, in[0], in[1], u, h));
            kernel.stages.push_back(stages.matmul("down_proj", h, in[3], nullptr, out));
            return kernel;
          },
      .refuses = &refuses_on_cpu,
  };
});

}  // namespace
}  // namespace fusegate::kernels
