// The part of the ladder on the GPU that is composed of stages that every device has: from
// linear/addmm, one cublasLt matmul with the bias in its epilogue, as torch.nn.Linear runs it, to
// fused_pointwise, a gated MLP of four kernels, as Inductor and Liger fuse it. _tuned: with
// autotuned matmuls.
#include "kernels/activations/activations.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/implementations/expected_training.h"
#include "kernels/operations/training_stages.h"

namespace fusegate::kernels {
namespace {

struct Rung {
  std::string operation;
  std::string name;
  Composition compose;
  Expectation expects;
  MatmulChoice matmuls = MatmulChoice::kHeuristic;
};

Implementation on_cuda(const Rung& rung) {
  return {.operation = rung.operation,
          .name = rung.name,
          .device = "cuda",
          .dtypes = {Dtype::kBf16, Dtype::kFp16},
          .prepare =
              [compose = rung.compose, matmuls = rung.matmuls](
                  Device& device, const Problem& problem, Inputs in, const Outputs& out) {
                CudaStages stages(device, matmuls);
                return compose(stages, device, problem, in, out);
              },
          .expects = {rung.expects}};
}

const ImplementationRegistration addmm(on_cuda({.operation = "linear",
                                                .name = "addmm",
                                                .compose = &linear_addmm,
                                                .expects = {{expected_matmul("addmm")}}}));

const ImplementationRegistration addmm_tuned(on_cuda({.operation = "linear",
                                                      .name = "addmm_tuned",
                                                      .compose = &linear_addmm,
                                                      .expects = {{expected_matmul("addmm")}},
                                                      .matmuls = MatmulChoice::kTuned}));

const ImplementationRegistration matmul_add(on_cuda({.operation = "linear",
                                                     .name = "matmul_add",
                                                     .compose = &linear_matmul_add,
                                                     .expects = {{expected_matmul("matmul"),
                                                                  expected_bias_add()}}}));

const ImplementationRegistration unfused(kActivations, [](const Activation& activation) {
  return on_cuda(
      {.operation = std::string(activation.unit),
       .name = "unfused",
       .compose = std::bind_front(&gated_unfused, activation),
       .expects = {{expected_activation(activation), expected_mul()}, expected_own_launches(2)}});
});

const ImplementationRegistration fused(kActivations, [](const Activation& activation) {
  return on_cuda({.operation = std::string(activation.unit),
                  .name = "fused",
                  .compose = std::bind_front(&gated_fused, activation),
                  .expects = {{expected_gated(activation)}, expected_own_launches(1)}});
});

const ImplementationRegistration mlp_unfused(kActivations, [](const Activation& activation) {
  return on_cuda({.operation = activation.mlp(),
                  .name = "unfused",
                  .compose = std::bind_front(&gated_mlp_unfused, activation),
                  .expects = {{expected_matmul("gate_proj"), expected_matmul("up_proj"),
                               expected_activation(activation), expected_mul(),
                               expected_matmul("down_proj")}}});
});

const ImplementationRegistration fused_pointwise(kActivations, [](const Activation& activation) {
  return on_cuda({.operation = activation.mlp(),
                  .name = "fused_pointwise",
                  .compose = std::bind_front(&gated_mlp_fused_pointwise, activation),
                  .expects = expected_pointwise_mlp(activation)});
});

const ImplementationRegistration pointwise_tuned(kActivations, [](const Activation& activation) {
  return on_cuda({.operation = activation.mlp(),
                  .name = "fused_pointwise_tuned",
                  .compose = std::bind_front(&gated_mlp_fused_pointwise, activation),
                  .expects = expected_pointwise_mlp(activation),
                  .matmuls = MatmulChoice::kTuned});
});

const ImplementationRegistration unit_backward_unfused(
    kActivations, [](const Activation& activation) {
      return on_cuda({.operation = activation.backward(),
                      .name = "unfused",
                      .compose = std::bind_front(&gated_backward_unfused, activation),
                      .expects = {expected_unit_backward(activation), expected_own_launches(4)}});
    });

const ImplementationRegistration unit_backward_fused(
    kActivations, [](const Activation& activation) {
      return on_cuda(
          {.operation = activation.backward(),
           .name = "fused",
           .compose = std::bind_front(&gated_backward_fused, activation),
           .expects = {{expected_gated_backward(activation)}, expected_own_launches(1)}});
    });

const bool passes = [] {
  for (const Activation& activation : kActivations) {
    for (const MlpRung& rung : mlp_rungs()) {
      ImplementationRegistration(on_cuda(
          {.operation = (activation.*rung.operation)(),
           .name = rung.name,
           .compose = mlp_pass(activation, rung.pass),
           .expects = {expected_mlp_pass(activation, rung.pass)},
           .matmuls = rung.pass.is_packed ? MatmulChoice::kTuned : MatmulChoice::kHeuristic}));
    }
  }
  return true;
}();

}  // namespace
}  // namespace fusegate::kernels
