// What a gated unit applies to its gate: out = activation(g) * u. Each is one file of
// kernels/activations.
#pragma once

#include <string>
#include <string_view>

namespace fusegate::kernels {

struct Activation {
  std::string_view name = {};             // "gelu_tanh"
  std::string_view unit = {};             // the operation activation(g) * u: "geglu"
  std::string_view stage = {};            // of the activation alone: "gelu"
  double flops = 0;                       // per element; a transcendental function counts one
  double (*reference)(double) = nullptr;  // in double precision
  double slope_flops = 0;                 // of the derivative, where the activation is known
  double (*slope)(double) = nullptr;      // the derivative in double precision
  bool slope_jumps = false;

  // The operation whose products with weights surround the unit: "geglu_mlp".
  std::string mlp() const { return std::string(unit) + "_mlp"; }
  // The operations that backward passes are, of the unit and of its MLP, also one that adds to sums
  // of gradients, and a step of training: "geglu_backward", "geglu_mlp_backward",
  // "geglu_mlp_accumulate", "geglu_mlp_training".
  std::string backward() const { return std::string(unit) + "_backward"; }
  std::string mlp_backward() const { return mlp() + "_backward"; }
  std::string mlp_accumulate() const { return mlp() + "_accumulate"; }
  std::string mlp_training() const { return mlp() + "_training"; }
  // The operations that it is over several ranks: "geglu_mlp_tp", and "geglu_mlp_sp", where each
  // has its part of the rows.
  std::string mlp_across_ranks(bool has_rows) const { return mlp() + (has_rows ? "_sp" : "_tp"); }
  // The stage of the derivative and product in one: "gelu_backward".
  std::string backward_stage() const { return std::string(stage) + "_backward"; }
  // The stage of the unit's derivatives in one: "gelu_mul_backward".
  std::string gated_backward_stage() const { return gated_stage() + "_backward"; }
  // The stage of activation and product in one: "gelu_mul".
  std::string gated_stage() const { return std::string(stage) + "_mul"; }
  // The stage of dh's product and the unit's derivatives in one: "dh_geglu".
  std::string dh_stage() const { return "dh_" + std::string(unit); }
  // The stage of both products and the unit in one: "gate_up_geglu".
  std::string gate_up_stage() const { return "gate_up_" + std::string(unit); }
};

}  // namespace fusegate::kernels
