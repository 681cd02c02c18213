#include "kernels/cuda/lt_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/launch_timing.h"

namespace fusegate {
namespace {

constexpr std::size_t kMostCandidates = 12;
constexpr double kBatchMs = 0.2;
// Few rounds sort out what is hopeless; the others get more, an odd number with them.
constexpr int kFirstRounds = 3, kMoreRounds = 12;

struct Candidate {
  LtChoice choice;
  std::function<void()> enqueue;
  std::unique_ptr<TimedLaunches> launches;
  std::vector<double> times_ms;
};

// Whether the device took it. A candidate is a prediction, and some are refused when launched.
bool runs(CudaDevice& device, const Candidate& candidate) {
  try {
    candidate.enqueue();
  } catch (const DeviceError&) {
    cudaGetLastError();  // what was refused must not fail the next launch's check
    return false;
  }
  device.synchronize();  // throws where the device itself failed
  return true;
}

// Rivals, then cublasLt's.
std::vector<Candidate> all_candidates(const LtMatmul& matmul, const Tensor& x, const Tensor& w,
                                      const Tensor& out, const std::vector<MatmulRival>& rivals) {
  const std::vector<cublasLtMatmulAlgo_t> algorithms = matmul.candidates(kMostCandidates);
  std::vector<Candidate> all;
  const auto add = [&](LtChoice choice, std::function<void()> enqueue) {
    choice.rank =
        fmt::format("candidate {} of {}", all.size() + 1, rivals.size() + algorithms.size());
    all.push_back({std::move(choice), std::move(enqueue), nullptr, {}});
  };
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    add({.algorithm = {}, .rank = {}, .rival = i}, rivals[i].launch);
  }
  for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
    add({.algorithm = algorithm, .rank = {}},
        [=, &matmul] { matmul.enqueue_by(algorithm, x.data, w.data, out.data); });
  }
  return all;
}

std::vector<Candidate> those_that_run(CudaDevice& device, std::vector<Candidate> all) {
  std::vector<Candidate> running;
  for (Candidate& candidate : all) {
    if (runs(device, candidate)) running.push_back(std::move(candidate));
  }
  if (running.empty()) throw DeviceError("none of a matmul's candidates runs");
  return running;
}

void capture(std::vector<Candidate>& candidates, cudaStream_t stream) {
  const int calls = launches_that_take(kBatchMs, candidates.front().enqueue, stream);
  for (Candidate& candidate : candidates) {
    candidate.launches = std::make_unique<TimedLaunches>(candidate.enqueue, calls, stream);
  }
}

void time_rounds(std::vector<Candidate>& candidates, int rounds, std::mt19937& random) {
  std::vector<Candidate*> order;
  for (Candidate& candidate : candidates) order.push_back(&candidate);
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (Candidate* const candidate : order) {
      const double ms = candidate->launches->ms();
      candidate->times_ms.push_back(ms);
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(2 * ms));
    }
  }
}

std::vector<Candidate> kept(std::vector<Candidate> candidates, double margin) {
  std::vector<std::vector<double>> times;
  for (const Candidate& candidate : candidates) times.push_back(candidate.times_ms);
  std::vector<Candidate> close;
  for (const std::size_t i : close_to_fastest(times, margin)) {
    close.push_back(std::move(candidates[i]));
  }
  return close;
}

LtChoice measured_choice(CudaDevice& device, const LtMatmul& matmul, const Tensor& x,
                         const Tensor& w, const Tensor& out,
                         const std::vector<MatmulRival>& rivals) {
  const cudaStream_t stream = device.stream();
  const RestoredTensor old_x(x, stream), old_out(out, stream);
  // An intermediate result holds nothing yet, and what a GEMM multiplies decides its power, hence
  // its clock. The weights hold theirs.
  device.fill_random(x, 1.0, 1);
  std::vector<Candidate> candidates =
      those_that_run(device, all_candidates(matmul, x, w, out, rivals));
  if (candidates.size() > 1) {
    std::mt19937 random(1);
    capture(candidates, stream);
    time_rounds(candidates, kFirstRounds, random);
    candidates = kept(std::move(candidates), kHopeless);
    time_rounds(candidates, kMoreRounds, random);
    candidates = kept(std::move(candidates), kTie);
  }
  return candidates.front().choice;
}

}  // namespace

TunedMatmul tune(CudaDevice& device, LtMatmul& matmul, const Tensor& x, const Tensor& w,
                 const Tensor& out, const std::vector<MatmulRival>& rivals) {
  LtProblem problem = matmul.problem();
  for (const MatmulRival& rival : rivals) problem.rivals.push_back(rival.name);
  LtChoices& choices = device.lt_choices();
  auto found = choices.find(problem);
  if (found == choices.end()) {
    refuse_capture(device.stream(), "a tuned matmul");
    found = choices.emplace(problem, measured_choice(device, matmul, x, w, out, rivals)).first;
  }
  const LtChoice& choice = found->second;
  if (!choice.rival) matmul.use(choice.algorithm);
  return {fmt::format("tuned: {}, {}", choice.rank,
                      choice.rival ? rivals[*choice.rival].name : matmul.algorithm()),
          choice.rival};
}

}  // namespace fusegate
