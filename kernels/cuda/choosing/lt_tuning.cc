#include "kernels/cuda/choosing/lt_tuning.h"

#include <utility>

#include "kernels/cuda/choosing/launch_choice.h"

namespace fusegate::kernels {
namespace {

constexpr std::size_t kMostCandidates = 12;

LtChoice measured_choice(CudaDevice& device, const std::string& stage, const LtMatmul& matmul,
                         const Tensor& x, const Tensor& w, const Tensor& out,
                         const std::vector<Contestant>& rivals, const Contestant& before) {
  const std::vector<cublasLtMatmulAlgo_t> algorithms = matmul.candidates(kMostCandidates);
  std::vector<std::string> names;
  std::vector<std::function<void()>> launches;
  for (const Contestant& rival : rivals) {
    names.push_back(rival.name);
    launches.push_back(rival.launch);
  }
  for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
    names.push_back(LtMatmul::algorithm_text(algorithm));
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
  const KeptChoices& kept = device.kept_choices();
  const auto strictly = place_taken_strictly(kept, stage, names);
  const auto [taken, ahead] =
      strictly ? TakenLaunch{*strictly}
               : fastest(device, launches, x, out, place_kept(kept, stage, names));
  LtChoice choice{.algorithm = {},
                  .text = choice_text("tuned", taken, names.size(), names[taken]),
                  .ahead = ahead};
  if (taken < rivals.size()) {
    choice.rival = taken;
  } else {
    choice.algorithm = algorithms[taken - rivals.size()];
  }
  return choice;
}

}  // namespace

TunedMatmul tune(CudaDevice& device, const std::string& stage, LtMatmul& matmul, const Tensor& x,
                 const Tensor& w, const Tensor& out, const std::vector<Contestant>& rivals,
                 const Contestant& before) {
  LtProblem problem = matmul.problem();
  for (const Contestant& rival : rivals) problem.rivals.push_back(rival.name);
  problem.before = before.name;
  const KeptChoices& kept = device.kept_choices();
  if (const auto said = kept.choices.find(stage); kept.strictly && said != kept.choices.end()) {
    problem.kept = chosen_name(said->second);
  }
  LtChoices& choices = device.lt_choices();
  auto found = choices.find(problem);
  if (found == choices.end()) {
    found =
        choices.emplace(problem, measured_choice(device, stage, matmul, x, w, out, rivals, before))
            .first;
  }
  const LtChoice& choice = found->second;
  if (!choice.rival) matmul.use(choice.algorithm);
  return {choice.text, choice.rival, why_taken(kept, stage, choice.text, choice.ahead)};
}

}  // namespace fusegate::kernels
