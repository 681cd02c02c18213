// The part of the ladder on the CPU that is composed of stages that every device has. A gated unit
// unfused is an eltwise and a binary primitive; fused, a binary one with both as post-ops. What
// belongs to a backward pass alone is in plain loops.
#include "kernels/onednn/onednn_stages.h"
#include "kernels/operations/training_stages.h"

namespace fusegate::kernels {
namespace {

struct Rung {
  std::string operation;
  std::string name;
  Composition compose;
};

Implementation on_cpu(const Rung& rung) {
  return {.operation = rung.operation,
          .name = rung.name,
          .device = "cpu",
          .dtypes = {Dtype::kFp32, Dtype::kBf16},
          .prepare =
              [compose = rung.compose](Device& device, const Problem& problem, Inputs in,
                                       const Outputs& out) {
                OnednnStages stages(device);
                return compose(stages, device, problem, in, out);
              },
          .refuses = &refuses_on_cpu};
}

const ImplementationRegistration addmm(
    on_cpu({.operation = "linear", .name = "addmm", .compose = &linear_addmm}));

const ImplementationRegistration matmul_add(
    on_cpu({.operation = "linear", .name = "matmul_add", .compose = &linear_matmul_add}));

const ImplementationRegistration unfused(onednn_activations(), [](const Activation& activation) {
  return on_cpu({.operation = std::string(activation.unit),
                 .name = "unfused",
                 .compose = std::bind_front(&gated_unfused, activation)});
});

const ImplementationRegistration fused(onednn_activations(), [](const Activation& activation) {
  return on_cpu({.operation = std::string(activation.unit),
                 .name = "fused",
                 .compose = std::bind_front(&gated_fused, activation)});
});

const ImplementationRegistration mlp(onednn_activations(), [](const Activation& activation) {
  return on_cpu({.operation = activation.mlp(),
                 .name = "unfused",
                 .compose = std::bind_front(&gated_mlp_unfused, activation)});
});

const ImplementationRegistration unit_backward_unfused(
    onednn_activations(), [](const Activation& activation) {
      return on_cpu({.operation = activation.backward(),
                     .name = "unfused",
                     .compose = std::bind_front(&gated_backward_unfused, activation)});
    });

const ImplementationRegistration unit_backward_fused(
    onednn_activations(), [](const Activation& activation) {
      return on_cpu({.operation = activation.backward(),
                     .name = "fused",
                     .compose = std::bind_front(&gated_backward_fused, activation)});
    });

const bool passes = [] {
  for (const Activation& activation : onednn_activations()) {
    for (const MlpRung& rung : mlp_rungs()) {
      ImplementationRegistration(on_cpu({.operation = (activation.*rung.operation)(),
                                         .name = rung.name,
                                         .compose = mlp_pass(activation, rung.pass)}));
    }
  }
  return true;
}();

}  // namespace
}  // namespace fusegate::kernels
