#include "kernels/cuda/implementations/expected_training.h"

#include <string>
#include <utility>

#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

ExpectedStages joined(ExpectedStages first, const ExpectedStages& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

ExpectedStages expected_gate_and_up(const MlpPass& pass, const std::string& suffix = "") {
  if (pass.is_packed) return {expected_matmul("gate_up_proj" + suffix)};
  return {expected_matmul("gate_proj" + suffix), expected_matmul("up_proj" + suffix)};
}

ExpectedStages expected_forward(const Activation& activation, const MlpPass& pass) {
  if (pass.faster_gate_up) {
    return {expected_own_matmul(activation.gate_up_stage()), expected_matmul("down_proj")};
  }
  ExpectedStages stages = pass.trains ? expected_gate_and_up(pass) : ExpectedStages();
  if (!pass.is_fused) {
    stages = joined(std::move(stages), {expected_activation(activation), expected_mul()});
  } else if (pass.trains) {
    stages.push_back(expected_gated(activation));
  }
  if (pass.trains) stages.push_back(expected_matmul("down_proj"));
  if (pass.recomputes) stages = joined(std::move(stages), expected_gate_and_up(pass, "_again"));
  return stages;
}

// Of a unit's backward pass in four stages, the last three.
ExpectedStages expected_after_activation(const Activation& activation) {
  const std::string mul = expected_mul().kernels.front().pattern;
  return {expected_element_wise("du", mul), expected_element_wise("d_activated", mul),
          expected_element_wise(activation.backward_stage(), "pointwise_kernel<.*::Sloped<")};
}

}  // namespace

ExpectedStages expected_unit_backward(const Activation& activation) {
  return joined({expected_activation(activation)}, expected_after_activation(activation));
}
ExpectedStage expected_gated_backward(const Activation& activation) {
  return expected_element_wise(activation.gated_backward_stage(),
                               "pointwise_kernel<.*::(Packed)?GatedBackward<");
}

ExpectedStages expected_mlp_pass(const Activation& activation, const MlpPass& pass) {
  ExpectedStages stages = expected_forward(activation, pass);
  if (pass.faster_dh) {
    stages.push_back(expected_own_matmul(activation.dh_stage()));
  } else {
    stages.push_back(expected_matmul("dh"));
    if (pass.is_fused) stages.push_back(expected_gated_backward(activation));
  }
  if (pass.is_fused) {
    stages =
        joined(std::move(stages), {expected_matmul("dw_down"), expected_matmul("dw_gate_up", 2)});
  } else {
    stages.push_back(expected_matmul("dw_down"));
    stages = joined(joined(std::move(stages), expected_after_activation(activation)),
                    {expected_matmul("dw_gate"), expected_matmul("dw_up")});
  }
  if (pass.is_packed) return joined(std::move(stages), {expected_matmul("dx")});
  return joined(std::move(stages), {expected_matmul("dx_gate"), expected_matmul("dx_up")});
}

}  // namespace fusegate::kernels
