// nccl of the tensor-parallel gated MLPs: fused_epilogue for this rank's part of hidden, then
// NCCL's all-reduce of out, in place; of the sequence-parallel ones between NCCL's all-gather of x
// and its reduce-scatter.
#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda/device/nccl.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/implementations/nccl_exchanges.h"
#include "kernels/operations/gated_mlp_parallel.h"

namespace fusegate::kernels {
namespace {

Exchanges exchanges(CudaDevice& device) {
  return {.all_reduce = [&](const Tensor& out) { return nccl_all_reduce(device, out, out); },
          .all_gather = std::bind_front(&nccl_all_gather, std::ref(device)),
          .reduce_scatter = std::bind_front(&nccl_reduce_scatter, std::ref(device))};
}

PreparedKernel prepare(const Activation& activation, bool has_rows, Device& device,
                       const Problem& problem, Inputs in, const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  const auto mlp = [&](const Problem& of_rank, Inputs inputs, const Tensor& to) {
    return fastest_fused_mlp(activation, gpu, of_rank, inputs, to);
  };
  const auto compose = has_rows ? &sequence_parallel_mlp : &tensor_parallel_mlp;
  return compose(device, problem, in, out, mlp, exchanges(gpu));
}

std::string refuses(bool has_rows, const Device&, const Problem& problem) {
  const std::string why = refuses_to_split(problem, has_rows);
  return why.empty() ? refuses_nccl() : why;
}

// Registrations run in no particular order, so that each calls these.
std::vector<Expectation> expectations(const Activation& activation, bool has_rows) {
  const std::vector<Expectation> mlps = expected_fastest_fused_mlp(activation);
  if (!has_rows) return expected_between({}, mlps, {expected_nccl("all_reduce")});
  return expected_between({expected_nccl("all_gather")}, mlps, {expected_nccl("reduce_scatter")});
}

Implementation of(const Activation& activation, bool has_rows) {
  return {.operation = activation.mlp_across_ranks(has_rows),
          .name = "nccl",
          .device = "cuda",
          .dtypes = {Dtype::kBf16},
          .prepare = std::bind_front(&prepare, activation, has_rows),
          .refuses = std::bind_front(&refuses, has_rows),
          .expects = expectations(activation, has_rows)};
}

const BothForms<&of> registered;

}  // namespace
}  // namespace fusegate::kernels
