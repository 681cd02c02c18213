#include "kernels/cuda/launch_contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/launch_choice.h"
#include "kernels/cuda/launch_timing.h"

namespace fusegate {
namespace {

constexpr double kBatchMs = 0.2;
// Few rounds sort out what is hopeless; the others get more, an odd number with them.
constexpr int kFirstRounds = 3, kMoreRounds = 12;

struct Candidate {
  std::size_t number = 0;
  std::function<void()> launch;
  std::unique_ptr<TimedLaunches> launches;
  std::vector<double> times_ms;
};

// Whether the device took it. A library's candidate is a prediction, and some are refused when
// launched.
bool runs(CudaDevice& device, const std::function<void()>& launch) {
  try {
    launch();
  } catch (const DeviceError&) {
    cudaGetLastError();  // what was refused must not fail the next launch's check
    return false;
  }
  device.synchronize();  // throws where the device itself failed
  return true;
}

std::vector<Candidate> those_that_run(CudaDevice& device,
                                      const std::vector<std::function<void()>>& launches) {
  std::vector<Candidate> running;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (runs(device, launches[i])) running.push_back({i, launches[i], nullptr, {}});
  }
  if (running.empty()) throw DeviceError("none of the candidates runs");
  return running;
}

void capture(std::vector<Candidate>& candidates, cudaStream_t stream) {
  const int calls = launches_that_take(kBatchMs, candidates.front().launch, stream);
  for (Candidate& candidate : candidates) {
    candidate.launches = std::make_unique<TimedLaunches>(candidate.launch, calls, stream);
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

}  // namespace

std::size_t fastest(CudaDevice& device, const std::vector<std::function<void()>>& launches,
                    const Tensor& x, const Tensor& out) {
  refuse_capture(device.stream(), "what is chosen by measuring");
  const RestoredTensor old_x(x, device.stream()), old_out(out, device.stream());
  device.fill_random(x, 1.0, 1);
  std::vector<Candidate> candidates = those_that_run(device, launches);
  if (candidates.size() > 1) {
    std::mt19937 random(1);
    capture(candidates, device.stream());
    time_rounds(candidates, kFirstRounds, random);
    candidates = kept(std::move(candidates), kHopeless);
    time_rounds(candidates, kMoreRounds, random);
    candidates = kept(std::move(candidates), kTie);
  }
  return candidates.front().number;
}

ContestResult contest(CudaDevice& device, const std::string& work,
                      const std::vector<Contestant>& contestants, const Tensor& x,
                      const Tensor& out) {
  if (contestants.size() == 1) return {0, contestants.front().name};
  std::string key = work;
  std::vector<std::function<void()>> launches;
  for (const Contestant& contestant : contestants) {
    key += "\n" + contestant.name;
    launches.push_back(contestant.launch);
  }
  std::map<std::string, std::size_t>& choices = device.launch_choices();
  auto found = choices.find(key);
  if (found == choices.end()) found = choices.emplace(key, fastest(device, launches, x, out)).first;
  const std::size_t taken = found->second;
  return {taken, fmt::format("measured: candidate {} of {}, {}", taken + 1, contestants.size(),
                             contestants[taken].name)};
}

}  // namespace fusegate
