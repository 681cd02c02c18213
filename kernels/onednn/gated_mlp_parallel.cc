// The tensor-parallel gated MLPs on the CPU: each rank's fused_pointwise, and exchanges
// (exchanges.h) in place of a library of collectives.
#include "kernels/operations/gated_mlp_parallel.h"

#include "kernels/onednn/exchanges.h"
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

PreparedKernel tensor_parallel(const Activation& activation, Device& device, const Problem& problem,
                               Inputs in, const Tensor& out) {
  OnednnStages stages(device);
  PreparedKernel kernel =
      gated_mlp_fused_pointwise(activation, stages, device, problem_of_rank(problem), in, out);
  kernel.stages.push_back(gathered_all_reduce(device.ranks(), out, out));
  return kernel;
}

PreparedKernel sequence_parallel(const Activation& activation, Device& device,
                                 const Problem& problem, Inputs in, const Tensor& out) {
  const LadderProblem p(problem);
  PreparedKernel kernel;
  const Tensor x = kernel.intermediate(device, {p.rows(), p.dim}, p.dtype);
  const Tensor summand = kernel.intermediate(device, {p.rows(), p.dim}, p.dtype);
  kernel.stages.push_back(gathered_all_gather(device.ranks(), in[0], x));
  OnednnStages stages(device);
  const std::vector<Tensor> inputs{x, in[1], in[2], in[3]};
  PreparedKernel of_rank = gated_mlp_fused_pointwise(activation, stages, device,
                                                     problem_of_rank(problem), inputs, summand);
  for (Stage& stage : of_rank.stages) kernel.stages.push_back(std::move(stage));
  for (Memory& memory : of_rank.scratch) kernel.scratch.push_back(std::move(memory));
  kernel.owner = of_rank.owner;
  kernel.stages.push_back(gathered_reduce_scatter(device.ranks(), summand, out));
  return kernel;
}

using Prepare = PreparedKernel (*)(const Activation&, Device&, const Problem&, Inputs,
                                   const Tensor&);

Implementation of(std::string operation, const Activation& activation, Prepare prepare) {
  const bool has_rows = prepare == &sequence_parallel;
  return {.operation = std::move(operation),
          .name = "gathered",
          .device = "cpu",
          .dtypes = {Dtype::kFp32, Dtype::kBf16},
          .prepare = std::bind_front(prepare, activation),
          .refuses = [has_rows](const Device& device, const Problem& problem) {
            const std::string why = refuses_to_split(problem, has_rows);
            return why.empty() ? refuses_on_cpu(device, problem_of_rank(problem)) : why;
          }};
}

const ImplementationRegistration registered_tp(onednn_activations(),
                                               [](const Activation& activation) {
                                                 return of(activation.mlp_tensor_parallel(),
                                                           activation, &tensor_parallel);
                                               });
const ImplementationRegistration registered_sp(onednn_activations(),
                                               [](const Activation& activation) {
                                                 return of(activation.mlp_sequence_parallel(),
                                                           activation, &sequence_parallel);
                                               });

}  // namespace
}  // namespace fusegate::kernels
