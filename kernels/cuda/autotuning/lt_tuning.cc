#include "kernels/cuda/autotuning/lt_tuning.h"

#include "kernels/cuda/autotuning/launch_choice.h"

namespace fusegate::kernels {
namespace {

constexpr std::size_t kMostCandidates = 12;

// The heuristic is asked once: its order may differ from call to call.
LtChoice measured_choice(CublasDevice& device, const std::string& stage, const LtMatmul& matmul,
                         const Tensor& x, const Tensor& w, const Tensor& out) {
  const std::vector<cublasLtMatmulAlgo_t> algorithms = matmul.candidates(kMostCandidates);
  std::vector<std::string> names;
  std::vector<Launch> launches;
  for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
    names.push_back(LtMatmul::algorithm_text(algorithm));
    launches.emplace_back([&] { matmul.enqueue_by(algorithm, x.data, w.data, out.data); });
  }
  const PinnedChoices& pinned = device.pinned_choices();
  const auto required = require_pinned(pinned, stage, names);
  const auto [taken, ahead] =
      required ? TakenLaunch{*required}
               : fastest(device, launches, x, out, index_of_pinned(pinned, stage, names));
  return {.algorithm = algorithms[taken],
          .text = choice_text("tuned", taken, names.size(), names[taken]),
          .ahead = ahead};
}

}  // namespace

std::vector<Candidate> lt_candidates(const LtMatmul& matmul, const Tensor& x, const Tensor& w,
                                     const Tensor& out) {
  std::vector<Candidate> candidates;
  for (const cublasLtMatmulAlgo_t& algorithm : matmul.candidates(kMostCandidates)) {
    candidates.push_back({.name = LtMatmul::algorithm_text(algorithm), .launch = [=, &matmul] {
                            matmul.enqueue_by(algorithm, x.data, w.data, out.data);
                          }});
  }
  return candidates;
}

TunedMatmul tune(CublasDevice& device, const std::string& stage, LtMatmul& matmul, const Tensor& x,
                 const Tensor& w, const Tensor& out) {
  const PinnedChoices& pinned = device.pinned_choices();
  std::string key = matmul.text();
  if (const auto known = pinned.choices.find(stage);
      pinned.required && known != pinned.choices.end()) {
    key += ", " + chosen_name(known->second);
  }
  auto& choices = device.lt_choices();
  auto found = choices.find(key);
  if (found == choices.end()) {
    found = choices.emplace(key, measured_choice(device, stage, matmul, x, w, out)).first;
  }
  const LtChoice& choice = found->second;
  matmul.use(choice.algorithm);
  return {choice.text, why_taken(pinned, stage, choice.text, choice.ahead)};
}

}  // namespace fusegate::kernels
