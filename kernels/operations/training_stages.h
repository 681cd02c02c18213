// Backward passes and steps of training as compositions of stages that devices share.
//
// Memory is counted in [M, hidden] tensors of the problem's dtype; a device's own workspace of
// products comes on top.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/operations/stages.h"

namespace fusegate::kernels {

// A gated unit's backward pass, such as geglu_backward: four stages, the activation, two products
// and the activation's derivative; or all in one.
PreparedKernel gated_backward_unfused(const Activation& activation, StageLibrary& stages,
                                      Device& device, const Problem&, Inputs in,
                                      const Outputs& out);
PreparedKernel gated_backward_fused(const Activation& activation, StageLibrary& stages, Device&,
                                    const Problem&, Inputs in, const Outputs& out);

// What is composed of an MLP's stages.
struct MlpPass {
  // A step of training, as geglu_mlp_training; else a backward pass, as geglu_mlp_backward.
  bool trains = false;
  // Adds the weights' gradients to sums, as geglu_mlp_accumulate.
  bool adds = false;
  // The unit's backward pass is one stage, which makes h too, in dh's memory, and dw_gate and dw_up
  // are one: in 3 tensors. Else each product and each element-wise step is a stage, as in eager
  // PyTorch, and a step of training keeps g, activation(g), u and h: in 8 tensors, 6 of a backward
  // pass alone.
  bool is_fused = true;
  // gate and up lie side by side [M, 2 hidden], their weights one above the other [2 hidden, dim]:
  // one product is both of them, and dx is one product in place of two, whose sum is rounded once.
  // The weights' copy takes 2 hidden x dim elements; it is made before, as a layer that stores them
  // so has them.
  bool is_packed = false;
  // Between forward and backward it keeps no tensor, and computes gate and up again; else it keeps
  // those two, whose memory then holds their derivatives.
  bool recomputes = false;
  // Of fused passes, where a device has kernels for products with the unit as their epilogue: that
  // stage, or those of both apart if they are faster. They may run them, and leave other numbers in
  // what these write. Of a step of training that keeps g and u, both products of x and the unit:
  std::function<std::vector<Stage>(Device&, const Activation&, const KeptUnit& unit,
                                   std::vector<Stage> apart)>
      faster_gate_up = nullptr;
  // And dh's product and the unit's backward pass, so that dh is no tensor:
  std::function<std::vector<Stage>(Device&, const Activation&, const Tensor& dy,
                                   const Tensor& w_down, const UnitBackward& unit,
                                   std::vector<Stage> apart)>
      faster_dh = nullptr;
};

Composition mlp_pass(const Activation& activation, MlpPass pass);

// The implementations that each device has of an MLP's backward passes and of its training.
struct MlpRung {
  std::string (Activation::*operation)() const;
  std::string name;
  MlpPass pass;
};
std::vector<MlpRung> mlp_rungs();

}  // namespace fusegate::kernels
