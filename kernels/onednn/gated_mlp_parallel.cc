// The tensor-parallel gated MLPs on the CPU: each rank's fused_pointwise, and what ranks tell each
// other (ranks.h) in place of a library of collectives. Sums are of fp32, in the order of ranks.
#include "kernels/operations/gated_mlp_parallel.h"

#include <cstring>
#include <span>

#include "kernels/contract/number_format.h"
#include "kernels/onednn/onednn_stages.h"

namespace fusegate::kernels {
namespace {

std::string bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.data), tensor.bytes()};
}

// out: the sum of its elements in every rank's tensor, from that element on.
void add_up(const std::vector<std::string>& of_ranks, std::int64_t first, const Tensor& out) {
  for (std::int64_t i = 0; i < out.count(); ++i) {
    float sum = 0;
    for (const std::string& bytes : of_ranks) {
      const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
      sum += static_cast<float>(load_element(data, out.dtype, first + i));
    }
    store_element(static_cast<std::byte*>(out.data), out.dtype, i, sum);
  }
}

Stage all_reduce(Ranks& ranks, const Tensor& out) {
  Stage stage = all_reduce_work(out, ranks.count());
  stage.launch = [&ranks, out] { add_up(ranks.gather("all_reduce", bytes_of(out)), 0, out); };
  return stage;
}

Stage all_gather(Ranks& ranks, const Tensor& part, const Tensor& whole) {
  Stage stage = all_gather_work(whole, ranks.count());
  stage.launch = [&ranks, part, whole] {
    auto* to = static_cast<std::byte*>(whole.data);
    for (const std::string& bytes : ranks.gather("all_gather", bytes_of(part))) {
      std::memcpy(to, bytes.data(), bytes.size());
      to += bytes.size();
    }
  };
  return stage;
}

Stage reduce_scatter(Ranks& ranks, const Tensor& summand, const Tensor& part) {
  Stage stage = reduce_scatter_work(summand, ranks.count());
  stage.launch = [&ranks, summand, part] {
    add_up(ranks.gather("reduce_scatter", bytes_of(summand)), ranks.rank() * part.count(), part);
  };
  return stage;
}

PreparedKernel tensor_parallel(const Activation& activation, Device& device, const Problem& problem,
                               Inputs in, const Tensor& out) {
  OnednnStages stages(device);
  PreparedKernel kernel =
      gated_mlp_fused_pointwise(activation, stages, device, problem_of_rank(problem), in, out);
  kernel.stages.push_back(all_reduce(device.ranks(), out));
  return kernel;
}

PreparedKernel sequence_parallel(const Activation& activation, Device& device,
                                 const Problem& problem, Inputs in, const Tensor& out) {
  const LadderProblem p(problem);
  PreparedKernel kernel;
  const Tensor x = kernel.intermediate(device, {p.rows(), p.dim}, p.dtype);
  const Tensor summand = kernel.intermediate(device, {p.rows(), p.dim}, p.dtype);
  kernel.stages.push_back(all_gather(device.ranks(), in[0], x));
  OnednnStages stages(device);
  const std::vector<Tensor> inputs{x, in[1], in[2], in[3]};
  PreparedKernel of_rank = gated_mlp_fused_pointwise(activation, stages, device,
                                                     problem_of_rank(problem), inputs, summand);
  for (Stage& stage : of_rank.stages) kernel.stages.push_back(std::move(stage));
  for (Memory& memory : of_rank.scratch) kernel.scratch.push_back(std::move(memory));
  kernel.owner = of_rank.owner;
  kernel.stages.push_back(reduce_scatter(device.ranks(), summand, out));
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
