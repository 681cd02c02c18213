#include "kernels/cuda/lt_tuning.h"

#include <fmt/format.h>

#include <utility>

namespace fusegate {
namespace {

constexpr std::size_t kMostCandidates = 12;

LtChoice measured_choice(CudaDevice& device, const LtMatmul& matmul, const Tensor& x,
                         const Tensor& w, const Tensor& out, const std::vector<Contestant>& rivals,
                         const Contestant& before) {
  const std::vector<cublasLtMatmulAlgo_t> algorithms = matmul.candidates(kMostCandidates);
  std::vector<std::function<void()>> launches;
  for (const Contestant& rival : rivals) launches.push_back(rival.launch);
  for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
    launches.push_back([=, &matmul] { matmul.enqueue_by(algorithm, x.data, w.data, out.data); });
  }
  if (before.launch) {
    for (std::function<void()>& launch : launches) {
      launch = [first = before.launch, second = std::move(launch)] {
        first();
        second();
      };
    }
  }
  const std::size_t taken = fastest(device, launches, x, out);
  LtChoice choice{.algorithm = {},
                  .rank = fmt::format("candidate {} of {}", taken + 1, launches.size())};
  if (taken < rivals.size()) {
    choice.rival = taken;
  } else {
    choice.algorithm = algorithms[taken - rivals.size()];
  }
  return choice;
}

}  // namespace

TunedMatmul tune(CudaDevice& device, LtMatmul& matmul, const Tensor& x, const Tensor& w,
                 const Tensor& out, const std::vector<Contestant>& rivals,
                 const Contestant& before) {
  LtProblem problem = matmul.problem();
  for (const Contestant& rival : rivals) problem.rivals.push_back(rival.name);
  problem.before = before.name;
  LtChoices& choices = device.lt_choices();
  auto found = choices.find(problem);
  if (found == choices.end()) {
    found =
        choices.emplace(problem, measured_choice(device, matmul, x, w, out, rivals, before)).first;
  }
  const LtChoice& choice = found->second;
  if (!choice.rival) matmul.use(choice.algorithm);
  return {fmt::format("tuned: {}, {}", choice.rank,
                      choice.rival ? rivals[*choice.rival].name : matmul.algorithm()),
          choice.rival};
}

}  // namespace fusegate
