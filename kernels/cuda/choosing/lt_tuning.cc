#include "kernels/cuda/choosing/lt_tuning.h"

#include "kernels/cuda/choosing/launch_choice.h"

namespace fusegate::kernels {
namespace {

constexpr std::size_t kMostCandidates = 12;

LtChoice measured_choice(CudaDevice& device, const std::string& stage, const LtMatmul& matmul,
                         const Tensor& x, const Tensor& w, const Tensor& out) {
  std::vector<std::string> names;
  std::vector<std::function<void()>> launches;
  for (const Contestant& contestant : lt_contestants(matmul, x, w, out)) {
    names.push_back(contestant.name);
    launches.push_back(contestant.launch);
  }
  const KeptChoices& kept = device.kept_choices();
  const auto strictly = place_taken_strictly(kept, stage, names);
  const auto [taken, ahead] =
      strictly ? TakenLaunch{*strictly}
               : fastest(device, launches, x, out, place_kept(kept, stage, names));
  return {.algorithm = matmul.candidates(kMostCandidates)[taken],
          .text = choice_text("tuned", taken, names.size(), names[taken]),
          .ahead = ahead};
}

}  // namespace

std::vector<Contestant> lt_contestants(const LtMatmul& matmul, const Tensor& x, const Tensor& w,
                                       const Tensor& out) {
  std::vector<Contestant> contestants;
  for (const cublasLtMatmulAlgo_t& algorithm : matmul.candidates(kMostCandidates)) {
    contestants.push_back({.name = LtMatmul::algorithm_text(algorithm), .launch = [=, &matmul] {
                             matmul.enqueue_by(algorithm, x.data, w.data, out.data);
                           }});
  }
  return contestants;
}

TunedMatmul tune(CudaDevice& device, const std::string& stage, LtMatmul& matmul, const Tensor& x,
                 const Tensor& w, const Tensor& out) {
  LtProblem problem = matmul.problem();
  const KeptChoices& kept = device.kept_choices();
  if (const auto said = kept.choices.find(stage); kept.strictly && said != kept.choices.end()) {
    problem.kept = chosen_name(said->second);
  }
  LtChoices& choices = device.lt_choices();
  auto found = choices.find(problem);
  if (found == choices.end()) {
    found = choices.emplace(problem, measured_choice(device, stage, matmul, x, w, out)).first;
  }
  const LtChoice& choice = found->second;
  matmul.use(choice.algorithm);
  return {choice.text, why_taken(kept, stage, choice.text, choice.ahead)};
}

}  // namespace fusegate::kernels
