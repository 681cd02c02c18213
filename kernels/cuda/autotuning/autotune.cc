#include "kernels/cuda/autotuning/autotune.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "kernels/cuda/autotuning/launch_choice.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/launch_timing.h"

namespace fusegate::kernels {
namespace {

// A few short rounds discard slow candidates, more of them those beyond kPinnedMargin. The rest is
// timed in whole bursts, as benchmarks are: the clock falls for what a kernel draws only as it
// goes on. Those that are close then get more bursts. With five bursts for all, two of six
// processes of an H200 took another gated product than the others at 1024 x 2048 x 8192 (133.9 and
// 135.5 us against 132.5 to 133.0); with 15, none of three.
constexpr int kFirstRounds = 3, kMoreRounds = 6, kBursts = 5, kMoreBursts = 10;
constexpr double kClose = 0.02;  // a share of the fastest's median time

struct TimedCandidate {
  std::size_t index = 0;  // among the launches given
  Launch launch;
  std::unique_ptr<TimedLaunches> round{};
  std::vector<double> times_ms{};
};
// Shared, so that some of them can be timed further while all are compared.
using TimedCandidates = std::vector<std::shared_ptr<TimedCandidate>>;

// A library's candidate is a prediction; the device refuses some when they are launched.
bool runs(CudaDevice& device, const Launch& launch) {
  try {
    launch();
  } catch (const DeviceError&) {
    cudaGetLastError();  // clears the refusal, which would fail the next launch's check
    return false;
  }
  device.synchronize();  // throws where the device itself failed
  return true;
}

TimedCandidates runnable(CudaDevice& device, const std::vector<Launch>& launches) {
  TimedCandidates running;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (!runs(device, launches[i])) continue;
    running.push_back(std::make_shared<TimedCandidate>(TimedCandidate{i, launches[i]}));
  }
  if (running.empty()) {
    throw DeviceError("autotuning: the device refuses all " + std::to_string(launches.size()) +
                      " candidates");
  }
  return running;
}

void capture(const TimedCandidates& candidates, int calls_per_round, cudaStream_t stream) {
  for (const auto& candidate : candidates) {
    candidate->round = std::make_unique<TimedLaunches>(candidate->launch, calls_per_round, stream);
    candidate->times_ms.clear();
  }
}

int calls_per_burst(const TimedCandidates& candidates, cudaStream_t stream) {
  return launches_that_take(kBurstMs, candidates.front()->launch, stream);
}

void time_rounds(TimedCandidates order, int rounds, std::mt19937& random) {
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const auto& candidate : order) {
      const double ms = candidate->round->ms();
      candidate->times_ms.push_back(ms);
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(2 * ms));
    }
  }
}

std::vector<std::vector<double>> times_of(const TimedCandidates& candidates) {
  std::vector<std::vector<double>> times;
  for (const auto& candidate : candidates) times.push_back(candidate->times_ms);
  return times;
}

TimedCandidates close_ones(const TimedCandidates& candidates, double margin) {
  TimedCandidates close;
  for (const std::size_t i : close_to_fastest(times_of(candidates), margin)) {
    close.push_back(candidates[i]);
  }
  return close;
}

// Those within kDiscardMargin after the first rounds.
TimedCandidates promising(CudaDevice& device, const std::vector<Launch>& launches,
                          std::mt19937& random) {
  const TimedCandidates candidates = runnable(device, launches);
  if (candidates.size() == 1) return candidates;
  capture(candidates, launches_of_a_round(calls_per_burst(candidates, device.stream())),
          device.stream());
  time_rounds(candidates, kFirstRounds, random);
  return close_ones(candidates, kDiscardMargin);
}

// Where among the candidates the launch of that index is.
std::optional<std::size_t> position_of(std::optional<std::size_t> index,
                                       const TimedCandidates& candidates) {
  const auto found = std::ranges::find_if(
      candidates, [&](const auto& candidate) { return candidate->index == index; });
  if (found == candidates.end()) return std::nullopt;
  return static_cast<std::size_t>(found - candidates.begin());
}

struct Shortlist {
  std::vector<std::size_t> indices;
  std::size_t fastest = 0;  // its index
  bool far_ahead = false;   // all others were discarded
};

void add_once(Shortlist& list, std::size_t index) {
  if (std::ranges::find(list.indices, index) == list.indices.end()) list.indices.push_back(index);
}

// The fastest, so many at most; and the pinned one, unless it is discarded.
Shortlist shortlist(CudaDevice& device, const std::vector<Launch>& launches, const Tensor& x,
                    const Tensor& out, std::size_t most, std::optional<std::size_t> pinned) {
  const RestoredTensor old_x(x, device.stream()), old_out(out, device.stream());
  device.fill(x, Fill::uniform(1.0), 1);
  std::mt19937 random(1);
  const TimedCandidates candidates = promising(device, launches, random);
  const std::vector<std::vector<double>> times = times_of(candidates);
  Shortlist list{.indices = {},
                 .fastest = candidates[fastest_indices(times, 1).front()]->index,
                 .far_ahead = candidates.size() == 1 && !times.front().empty()};
  for (const std::size_t i : fastest_indices(times, most)) {
    list.indices.push_back(candidates[i]->index);
  }
  if (position_of(pinned, candidates)) add_once(list, *pinned);
  return list;
}

Shortlist merged(Shortlist list, const Shortlist& more) {
  for (const std::size_t i : more.indices) add_once(list, i);
  list.far_ahead = list.far_ahead && list.indices.size() == 1;
  return list;
}

std::vector<Launch> launches_of(const std::vector<Candidate>& candidates) {
  std::vector<Launch> launches;
  for (const Candidate& candidate : candidates) launches.push_back(candidate.launch);
  return launches;
}

std::vector<std::string> names_of(const StageCandidates& stage) {
  std::vector<std::string> names;
  for (const Candidate& candidate : stage.candidates) names.push_back(candidate.name);
  return names;
}

Launch in_a_row(const Launch& before, const Launch& after) {
  return [=] {
    before();
    after();
  };
}

std::optional<std::size_t> pinned_index(const CudaDevice& device, const StageCandidates& stage) {
  return index_of_pinned(device.pinned_choices(), stage.stage, names_of(stage));
}

// The index among the candidates from `begin` on.
std::optional<std::size_t> local_index(std::size_t begin, std::optional<std::size_t> index) {
  if (!index || *index < begin) return std::nullopt;
  return *index - begin;
}

constexpr std::size_t kMostOfEach = 6;

// First kernels: the fastest alone, and the fastest in front of best_second. Picked alone only, an
// H100 took a pair of 17.7 us at two tokens of 2048 x 4096, where another takes 14.2: both
// products' weights are 50.3 MB there, the gated one's 33.6, and the L2 has 50. Picked in front of
// that second only, it took one of 94.0 us at eight tokens of 4096 x 11008, where another, with
// another second, takes 92.2.
Shortlist first_candidates(CudaDevice& device, const KernelPair& pair, const Launch& best_second) {
  std::vector<Launch> launches = launches_of(pair.first.candidates);
  const Shortlist alone =
      shortlist(device, launches, pair.x, pair.between, kMostOfEach, std::nullopt);
  for (Launch& launch : launches) launch = in_a_row(launch, best_second);
  return merged(
      shortlist(device, launches, pair.x, pair.out, kMostOfEach, pinned_index(device, pair.first)),
      alone);
}

// The library's second kernels that are fastest behind best_first. That need not be the fastest
// behind another: with one alone, 1024 x 1024 x 8192 took 73.2 to 73.8 us in 4 of 12 processes of
// an H200 and 71.7 to 72.4 in the others.
Shortlist library_candidates(CudaDevice& device, const KernelPair& pair, const Launch& best_first) {
  constexpr std::size_t kMostOfLibrary = 3;
  const std::vector<Launch> all = launches_of(pair.second.candidates);
  const std::size_t begin = all.size() - pair.second.of_library;
  std::vector<Launch> launches;
  for (std::size_t i = begin; i < all.size(); ++i) {
    launches.push_back(in_a_row(best_first, all[i]));
  }
  Shortlist list = shortlist(device, launches, pair.x, pair.out, kMostOfLibrary,
                             local_index(begin, pinned_index(device, pair.second)));
  for (std::size_t& i : list.indices) i += begin;
  return list;
}

struct PairShortlists {
  Shortlist first, second;
};

// What is measured in pairs. A fixed number of each stage: at one token (an H200) the fastest pair
// was of the third and the fourth, which those within a margin left out as often as not (4.25 us
// for 4.02).
PairShortlists shortlist_pairs(CudaDevice& device, const KernelPair& pair) {
  std::vector<Launch> seconds = launches_of(pair.second.candidates);
  const std::size_t own = seconds.size() - pair.second.of_library;
  if (own > 0) seconds.resize(own);
  PairShortlists lists;
  lists.second = shortlist(device, seconds, pair.between, pair.out, kMostOfEach,
                           pinned_index(device, pair.second));
  lists.first = first_candidates(device, pair, seconds[lists.second.fastest]);
  if (pair.second.of_library == 0) return lists;
  const Launch& best_first = pair.first.candidates[lists.first.fastest].launch;
  const Shortlist library = library_candidates(device, pair, best_first);
  lists.second = own > 0 ? merged(std::move(lists.second), library) : library;
  return lists;
}

// The index of a pair is that of its first times the number of seconds, plus that of its second.
TakenLaunch fastest_pair(CudaDevice& device, const KernelPair& pair) {
  const std::size_t seconds = pair.second.candidates.size();
  const auto pinned_first = pinned_index(device, pair.first);
  const auto pinned_second = pinned_index(device, pair.second);
  const auto [first, second] = shortlist_pairs(device, pair);
  std::vector<std::size_t> indices;
  std::vector<Launch> pairs;
  std::optional<std::size_t> pinned;
  for (const std::size_t i : first.indices) {
    for (const std::size_t j : second.indices) {
      if (i == pinned_first && j == pinned_second) pinned = pairs.size();
      indices.push_back(i * seconds + j);
      pairs.push_back(in_a_row(pair.first.candidates[i].launch, pair.second.candidates[j].launch));
    }
  }
  TakenLaunch taken = fastest(device, pairs, pair.x, pair.out, pinned);
  if (pairs.size() == 1 && (first.far_ahead || second.far_ahead)) taken.ahead = kDiscardMargin;
  return {indices[taken.index], taken.ahead};
}

std::string key_of(const KernelPair& pair) {
  std::string key = pair.work;
  const auto add = [&](const StageCandidates& stage) {
    key += "\n" + stage.stage;
    for (const Candidate& candidate : stage.candidates) key += "\n" + candidate.name;
  };
  add(pair.first);
  key += "\nthen";
  add(pair.second);
  return key;
}

TunedStage tuned_stage(const CudaDevice& device, const StageCandidates& stage,
                       const TakenLaunch& taken) {
  const std::size_t count = stage.candidates.size();
  const std::string& name = stage.candidates[taken.index].name;
  if (count == 1) return {taken.index, name};
  std::string choice = choice_text("measured", taken.index, count, name);
  std::string note = why_taken(device.pinned_choices(), stage.stage, choice, taken.ahead);
  return {taken.index, std::move(choice), std::move(note)};
}

}  // namespace

TakenLaunch fastest(CudaDevice& device, const std::vector<Launch>& launches, const Tensor& x,
                    const Tensor& out, std::optional<std::size_t> pinned) {
  refuse_capture(device.stream(), "autotuning");
  const RestoredTensor old_x(x, device.stream()), old_out(out, device.stream());
  device.fill(x, Fill::uniform(1.0), 1);
  std::mt19937 random(1);
  TimedCandidates candidates = promising(device, launches, random);
  if (candidates.size() == 1) {
    const bool was_alone = candidates.front()->times_ms.empty();
    return {candidates.front()->index, was_alone ? TakenLaunch{}.ahead : kDiscardMargin};
  }
  const auto pinned_is_near = [&] {
    return keep_pinned(times_of(candidates), position_of(pinned, candidates));
  };
  if (const auto kept = pinned_is_near()) return {candidates[kept->index]->index, kept->ahead};
  time_rounds(candidates, kMoreRounds, random);
  if (const auto kept = pinned_is_near()) return {candidates[kept->index]->index, kept->ahead};
  if (TimedCandidates close = close_ones(candidates, kPinnedMargin); close.size() > 1) {
    candidates = std::move(close);
    capture(candidates, calls_per_burst(candidates, device.stream()), device.stream());
    time_rounds(candidates, kBursts, random);
    time_rounds(close_ones(candidates, kClose), kMoreBursts, random);
  }
  const TakenLaunch taken = take(times_of(candidates), position_of(pinned, candidates));
  return {candidates[taken.index]->index, taken.ahead};
}

TakenLaunch measured_once(CudaDevice& device, const std::string& key,
                          const std::function<TakenLaunch()>& measure) {
  auto& choices = device.launch_choices();
  auto found = choices.find(key);
  if (found == choices.end()) found = choices.emplace(key, measure()).first;
  return found->second;
}

TunedPair tune_pair(CudaDevice& device, const KernelPair& pair) {
  const PinnedChoices& pinned = device.pinned_choices();
  const auto first = require_pinned(pinned, pair.first.stage, names_of(pair.first));
  const auto second = require_pinned(pinned, pair.second.stage, names_of(pair.second));
  if (first && second) {
    return {tuned_stage(device, pair.first, {*first}), tuned_stage(device, pair.second, {*second})};
  }
  const auto [taken, ahead] = measured_once(device, key_of(pair), [&] {
    refuse_capture(device.stream(), "autotuning");
    return fastest_pair(device, pair);
  });
  const std::size_t seconds = pair.second.candidates.size();
  return {tuned_stage(device, pair.first, {taken / seconds, ahead}),
          tuned_stage(device, pair.second, {taken % seconds, ahead})};
}

}  // namespace fusegate::kernels
