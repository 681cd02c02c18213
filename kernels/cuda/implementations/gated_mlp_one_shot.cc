// one_shot of the tensor-parallel gated MLPs, for few rows: fused_epilogue for this rank's part of
// hidden, then an all-reduce in one kernel, in which each rank sends its summand to all others
// (ranks/one_shot.cuh).
#include <fmt/format.h>

#include "kernels/activations/activations.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/ranks/one_shot.h"
#include "kernels/cuda/ranks/peer_buffer.h"
#include "kernels/operations/exchanges.h"
#include "kernels/operations/gated_mlp_parallel.h"

namespace fusegate::kernels {
namespace {

PreparedKernel prepare(const Activation& activation, Device& device, const Problem& problem,
                       Inputs in, const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  const auto buffer = PeerBuffer::of(gpu, {.slot_bytes = static_cast<std::int64_t>(out.bytes())});
  const OneShotPlan plan =
      plan_one_shot(static_cast<std::int64_t>(out.bytes()), device.ranks().count(), gpu.limits());
  const auto mlp = [&](const Problem& of_rank, Inputs inputs, const Tensor& to) {
    return fastest_fused_mlp(activation, gpu, of_rank, inputs, to);
  };
  const auto all_reduce = [&](const Tensor& to) {
    Stage stage = all_reduce_work(to, device.ranks().count());
    stage.choice = one_shot_text(plan);
    stage.launch = make_one_shot(gpu, plan, buffer->exchange(), to);
    return stage;
  };
  PreparedKernel kernel =
      tensor_parallel_mlp(device, problem, in, out, mlp, {.all_reduce = all_reduce});
  kernel.of_ranks = buffer->memory();
  return kernel;
}

std::string refuses(const Device&, const Problem& problem) {
  const LadderProblem p(problem);
  if (const std::string why = refuses_to_split(problem, false); !why.empty()) return why;
  const std::int64_t bytes = p.rows() * p.dim * 2;
  if (bytes <= kMostOneShotBytes) return "";
  return fmt::format("out of {} MiB is too large to send whole: it takes {} MiB at most",
                     bytes >> 20, kMostOneShotBytes >> 20);
}

const ImplementationRegistration registered(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp_across_ranks(false),
      .name = "one_shot",
      .device = "cuda",
      .dtypes = {Dtype::kBf16},
      .multiples = {{"dim", kGemmAlignment}},
      .prepare = std::bind_front(&prepare, activation),
      .refuses = &refuses,
      .expects = expected_between({}, expected_fastest_fused_mlp(activation),
                                  {expected_element_wise("all_reduce", "one_shot_(packets_)?kernel")})};
});

}  // namespace
}  // namespace fusegate::kernels
