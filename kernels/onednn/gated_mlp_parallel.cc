// The tensor-parallel gated MLPs on the CPU: each rank's fused_pointwise, and exchanges
// (exchanges.h) in place of a library of collectives.
#include "kernels/operations/gated_mlp_parallel.h"

#include "kernels/onednn/exchanges.h"
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

Exchanges exchanges(Ranks& ranks) {
  return {.all_reduce = [&](const Tensor& out) { return gathered_all_reduce(ranks, out, out); },
          .all_gather = std::bind_front(&gathered_all_gather, std::ref(ranks)),
          .reduce_scatter = std::bind_front(&gathered_reduce_scatter, std::ref(ranks))};
}

PreparedKernel prepare(const Activation& activation, bool has_rows, Device& device,
                       const Problem& problem, Inputs in, const Tensor& out) {
  const auto mlp = [&](const Problem& of_rank, Inputs inputs, const Tensor& to) {
    OnednnStages stages(device);
    return gated_mlp_fused_pointwise(activation, stages, device, of_rank, inputs, to);
  };
  const auto compose = has_rows ? &sequence_parallel_mlp : &tensor_parallel_mlp;
  return compose(device, problem, in, out, mlp, exchanges(device.ranks()));
}

Implementation of(const Activation& activation, bool has_rows) {
  return {.operation = activation.mlp_across_ranks(has_rows),
          .name = "gathered",
          .device = "cpu",
          .dtypes = {Dtype::kFp32, Dtype::kBf16},
          .prepare = std::bind_front(&prepare, activation, has_rows),
          .refuses = [has_rows](const Device& device, const Problem& problem) {
            const std::string why = refuses_to_split(problem, has_rows);
            return why.empty() ? refuses_on_cpu(device, problem_of_rank(problem)) : why;
          }};
}

const BothForms<&of> registered;

}  // namespace
}  // namespace fusegate::kernels
