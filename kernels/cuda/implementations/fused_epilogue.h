// A gated MLP as two kernels: one product with both the gate's and the up's weights, whose epilogue
// is the gated unit, so that g and u never reach device memory; then the down product. Stages
// Activation::gate_up_stage() and down_proj, whose choices say how each is cut or which algorithm
// it is.
#pragma once

#include "kernels/contract/kernel.h"
#include "kernels/contract/stages.h"

namespace fusegate::kernels {

// Of dim and hidden: rows of 16-bit elements are read and written 16 bytes at a time.
inline constexpr std::int64_t kFusedEpilogueAlignment = 8;

// activation: one of kGemmActivations.

// The down product is cublasLt's or our own, whichever measures faster.

// By Ampere's instructions, on compute capability 8.0 and newer.
PreparedKernel prepare_fused_epilogue_sm80(const Activation& activation, Device& device,
                                           const Problem& problem, Inputs in, const Tensor& out);

// Why the device cannot run Hopper's, or "".
std::string refuses_sm90(const Device& device);
// By Hopper's, where refuses_sm90 says nothing.
PreparedKernel prepare_fused_epilogue_sm90(const Activation& activation, Device& device,
                                           const Problem& problem, Inputs in, const Tensor& out);

// For at most kMostFewRows rows: each product by whichever is fastest of the above and of those
// that stream the weights.
PreparedKernel prepare_fused_epilogue_few_rows(const Activation& activation, Device& device,
                                               const Problem& problem, Inputs in,
                                               const Tensor& out);

}  // namespace fusegate::kernels
