// Backward passes and steps of training as compositions of stages that devices share.
#pragma once

#include "kernels/operations/stages.h"

namespace fusegate::kernels {

// A gated unit's backward pass, such as geglu_backward: four stages, the activation, two products
// and the activation's derivative; or all in one.
PreparedKernel gated_backward_unfused(const Activation& activation, StageLibrary& stages,
                                      Device& device, const Problem&, Inputs in,
                                      const Outputs& out);
PreparedKernel gated_backward_fused(const Activation& activation, StageLibrary& stages, Device&,
                                    const Problem&, Inputs in, const Outputs& out);

// Its MLP's, such as geglu_mlp_backward: each product and each element-wise step in a stage of its
// own, in 7 [M, hidden] tensors of scratch memory; or the unit in one stage, which makes h too, and
// dw_gate and dw_up in one, in 3.
PreparedKernel gated_mlp_backward_unfused(const Activation& activation, StageLibrary& stages,
                                          Device& device, const Problem& problem, Inputs in,
                                          const Outputs& out);
PreparedKernel gated_mlp_backward_fused_pointwise(const Activation& activation,
                                                  StageLibrary& stages, Device& device,
                                                  const Problem& problem, Inputs in,
                                                  const Outputs& out);

// A step of training, such as geglu_mlp_training. Between forward and backward
//
//   unfused     keeps four [M, hidden] tensors, as PyTorch's autograd: g, activation(g), u and h
//   keep        keeps two, g and u, whose memory then holds dg and du; h comes of the backward pass
//   recompute   keeps none, and computes g and u again
PreparedKernel gated_mlp_training_unfused(const Activation& activation, StageLibrary& stages,
                                          Device& device, const Problem& problem, Inputs in,
                                          const Outputs& out);
PreparedKernel gated_mlp_training_keep(const Activation& activation, StageLibrary& stages,
                                       Device& device, const Problem& problem, Inputs in,
                                       const Outputs& out);
PreparedKernel gated_mlp_training_recompute(const Activation& activation, StageLibrary& stages,
                                            Device& device, const Problem& problem, Inputs in,
                                            const Outputs& out);

}  // namespace fusegate::kernels
