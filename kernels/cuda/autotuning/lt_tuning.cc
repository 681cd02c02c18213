#include "kernels/cuda/autotuning/lt_tuning.h"

#include "kernels/cuda/autotuning/launch_choice.h"

namespace fusegate::kernels {
namespace {

constexpr std::size_t kMostCandidates = 12;

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

TunedMatmul tune(CudaDevice& device, const std::string& stage, LtMatmul& matmul, const Tensor& x,
                 const Tensor& w, const Tensor& out) {
  std::vector<std::string> names;
  std::vector<Launch> launches;
  for (const Candidate& candidate : lt_candidates(matmul, x, w, out)) {
    names.push_back(candidate.name);
    launches.push_back(candidate.launch);
  }
  const PinnedChoices& pinned = device.pinned_choices();
  TakenLaunch taken;
  if (const auto required = require_pinned(pinned, stage, names)) {
    taken.index = *required;
  } else {
    auto& known = device.launch_choices();
    const std::string key = matmul.text();
    if (!known.contains(key)) {
      known[key] = fastest(device, launches, x, out, index_of_pinned(pinned, stage, names));
    }
    taken = known[key];
  }
  matmul.use(matmul.candidates(kMostCandidates)[taken.index]);
  const std::string choice = choice_text("tuned", taken.index, names.size(), names[taken.index]);
  return {choice, why_taken(pinned, stage, choice, taken.ahead)};
}

}  // namespace fusegate::kernels
