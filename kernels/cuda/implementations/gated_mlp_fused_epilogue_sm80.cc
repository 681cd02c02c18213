// fused_epilogue_sm80 of a gated MLP: two kernels. The unit is the epilogue of one product with
// both the gate's and the up's weights, as they are stored, by Ampere's instructions
// (kernels/cuda/gemm/sm80/gated_gemm.cuh); then the down product.
#include "kernels/activations/activations.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/implementations/fused_epilogue.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_epilogue_sm80",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .alignment = kFusedEpilogueAlignment,
      .prepare = std::bind_front(&prepare_fused_epilogue_sm80, activation),
      .expects = {expected_epilogue_mlp(activation)},
  };
});

}  // namespace
}  // namespace fusegate::kernels
