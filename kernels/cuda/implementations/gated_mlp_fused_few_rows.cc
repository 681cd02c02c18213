// fused_few_rows of a gated MLP, for a decode step with M up to 64: two kernels that stream
// weights, gate and up with the unit, then down; launched early where the device can, so that one
// loads weights while the other ends.
#include <fmt/format.h>

#include "kernels/activations/activations.h"
#include "kernels/cuda/autotuning/streamed_products.h"
#include "kernels/cuda/few_rows/few_rows_plan.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

// No other kernels, though they may be faster.
PreparedKernel prepare(const Activation& activation, Device& any_device, const Problem& problem,
                       Inputs in, const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  return fastest_mlp(activation, device, problem, in, out, [&](const Tensor& h) -> MlpCandidates {
    return {streamed_gated(device, activation, {in[0], in[1], in[2], h}),
            streamed_matmul(device, h, in[3], out)};
  });
}

std::string refuses(const Device&, const LadderProblem& problem) {
  if (problem.rows() <= kMostFewRows) return "";
  return fmt::format("batch x seq is {}, must be at most {}", problem.rows(), kMostFewRows);
}

const ImplementationRegistration registered(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_few_rows",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .multiples = {{"dim", kGemmAlignment}, {"hidden", kGemmAlignment}},
      .prepare = std::bind_front(&prepare, activation),
      .refuses = &refuses,
      .expects = {{.stages = {expected_own_matmul(activation.gate_up_stage()),
                              expected_own_matmul("down_proj")},
                   .calls = expected_own_launches(2)}},
  };
});

}  // namespace
}  // namespace fusegate::kernels
