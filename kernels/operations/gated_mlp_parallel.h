// What implementations of the tensor-parallel gated MLPs are composed of on every device.
#pragma once

#include <functional>
#include <string>

#include "kernels/activations/activations.h"
#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {

// What one rank computes: the gated MLP of all rows and its part of the hidden width. Its out is
// one of as many summands as there are ranks.
Problem problem_of_rank(const Problem& problem);
// Why ranks cannot have equal parts of hidden, or of rows where has_rows; "" where they can.
std::string refuses_to_split(const Problem& problem, bool has_rows);

// A device's stages that exchange, with their launches.
struct Exchanges {
  std::function<Stage(const Tensor& out)> all_reduce = {};  // in place
  std::function<Stage(const Tensor& part, const Tensor& whole)> all_gather = {};
  std::function<Stage(const Tensor& summand, const Tensor& part)> reduce_scatter = {};
};
// A rank's own MLP, of problem_of_rank(): with all rows of x and of out.
using MlpOfRank =
    std::function<PreparedKernel(const Problem& of_rank, Inputs in, const Tensor& out)>;

// The rank's own MLP, then an all-reduce of out; or between an all-gather of x and a
// reduce-scatter.
PreparedKernel tensor_parallel_mlp(Device& device, const Problem& problem, Inputs in,
                                   const Tensor& out, const MlpOfRank& mlp,
                                   const Exchanges& exchanges);
PreparedKernel sequence_parallel_mlp(Device& device, const Problem& problem, Inputs in,
                                     const Tensor& out, const MlpOfRank& mlp,
                                     const Exchanges& exchanges);

// Registers an implementation of both forms, for each activation.
template <Implementation (*of)(const Activation& activation, bool has_rows)>
struct BothForms {
  explicit BothForms(const char* file = __builtin_FILE()) {
    ImplementationRegistration(
        kGemmActivations, [](const Activation& one) { return of(one, false); }, file);
    ImplementationRegistration(
        kGemmActivations, [](const Activation& one) { return of(one, true); }, file);
  }
};

}  // namespace fusegate::kernels
