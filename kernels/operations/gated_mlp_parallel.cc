// The gated MLPs over several ranks, one for each activation of our matrix products. Columns of
// w_gate and w_up and rows of w_down (as y = x w has them) are split, so that each rank computes
// its part of hidden:
//   out = sum over ranks of (activation(x w_gate^T) * (x w_up^T)) w_down^T
// x [M, dim], w_gate and w_up [hidden, dim] by rows, w_down [dim, hidden] by columns, out [M, dim].
// geglu_mlp_tp: x and out are whole on each rank, as behind an all-reduce. geglu_mlp_sp, the
// sequence-parallel form: each rank has its part of the rows of x and of out.
// M. Shoeybi et al., "Megatron-LM", 2019; V. Korthikanti et al., "Reducing activation recomputation
// in large transformer models", 2022.
#include "kernels/operations/gated_mlp_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "kernels/activations/activations.h"
#include "kernels/operations/gated_mlp.h"

namespace fusegate::kernels {
namespace {

std::vector<std::string> axes() {
  std::vector<std::string> axes = ladder_axes();
  axes.emplace_back(kRanksAxis);
  return axes;
}

std::vector<TensorSpec> inputs(const Problem& problem, bool has_rows) {
  std::vector<TensorSpec> specs = gated_mlp_inputs(problem);
  if (has_rows) specs[0].split_axis = 0;
  specs[1].split_axis = specs[2].split_axis = 0;
  specs[3].split_axis = 1;
  return specs;
}

std::vector<TensorSpec> outputs(const LadderProblem& p, bool has_rows) {
  return {{.name = "out",
           .shape = {p.rows(), p.dim},
           .split_axis = has_rows ? std::optional(0) : std::nullopt}};
}

Operation of(const Activation& activation, bool has_rows) {
  return {.name = activation.mlp_across_ranks(has_rows),
          .axes = axes(),
          .across_ranks =
              AcrossRanks{
                  .work = activation.mlp(),
                  .divided = {"hidden"},
                  .exchanges = has_rows ? std::vector<std::string>{"all_gather", "reduce_scatter"}
                                        : std::vector<std::string>{"all_reduce"}},
          .inputs = [=](const Problem& p) { return inputs(p, has_rows); },
          .outputs = [=](const Problem& p) { return outputs(p, has_rows); },
          .reference = std::bind_front(&gated_mlp_reference, activation)};
}

const OperationRegistration tensor_parallel(kGemmActivations, [](const Activation& activation) {
  return of(activation, false);
});
const OperationRegistration sequence_parallel(kGemmActivations, [](const Activation& activation) {
  return of(activation, true);
});

}  // namespace

Problem problem_of_rank(const Problem& problem) {
  const LadderProblem p(problem);
  return ladder_problem(p.batch, p.seq, p.dim, p.hidden / ranks_of(problem).value_or(1), p.dtype);
}

std::string refuses_to_split(const Problem& problem, bool has_rows) {
  const LadderProblem p(problem);
  const std::int64_t ranks = problem.at(kRanksAxis);
  if (p.hidden % ranks != 0)
    return fmt::format("hidden {} is not a multiple of {} ranks", p.hidden, ranks);
  if (has_rows && p.rows() % ranks != 0) {
    return fmt::format("{} rows are not a multiple of {} ranks", p.rows(), ranks);
  }
  return "";
}

PreparedKernel tensor_parallel_mlp(Device&, const Problem& problem, Inputs in, const Tensor& out,
                                   const MlpOfRank& mlp, const Exchanges& exchanges) {
  PreparedKernel kernel = mlp(problem_of_rank(problem), in, out);
  kernel.stages.push_back(exchanges.all_reduce(out));
  return kernel;
}

PreparedKernel sequence_parallel_mlp(Device& device, const Problem& problem, Inputs in,
                                     const Tensor& out, const MlpOfRank& mlp,
                                     const Exchanges& exchanges) {
  const LadderProblem p(problem);
  std::vector<Memory> scratch;
  const Tensor x = allocate_tensor(device, {p.rows(), p.dim}, p.dtype, scratch);
  const Tensor summand = allocate_tensor(device, {p.rows(), p.dim}, p.dtype, scratch);
  const std::vector<Tensor> inputs{x, in[1], in[2], in[3]};
  PreparedKernel kernel = mlp(problem_of_rank(problem), inputs, summand);
  std::ranges::move(scratch, std::back_inserter(kernel.scratch));
  kernel.stages.insert(kernel.stages.begin(), exchanges.all_gather(in[0], x));
  kernel.stages.push_back(exchanges.reduce_scatter(summand, out));
  return kernel;
}

}  // namespace fusegate::kernels
