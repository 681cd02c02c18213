// A gated MLP, unfused: the five kernels of an eager one.
#include "kernels/activations/activations.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(kActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "unfused",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare =
          [activation](Device& device, const Problem& problem, Inputs in, const Tensor& out) {
            CudaStages stages(device);
            return gated_mlp_unfused(stages, activation, device, problem, in, out);
          },
      .expects = {{.stages = {expected_matmul("gate_proj"), expected_matmul("up_proj"),
                              expected_activation(activation), expected_mul(),
                              expected_matmul("down_proj")}}},
  };
});

}  // namespace
}  // namespace fusegate::kernels
