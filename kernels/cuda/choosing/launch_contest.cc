#include "kernels/cuda/choosing/launch_contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "kernels/cuda/choosing/launch_choice.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/launch_timing.h"

namespace fusegate::kernels {
namespace {

// Few rounds sort out what is hopeless, more of them what would not be kept. What is left is timed
// in whole bursts, as what it is chosen for is: the clock falls for what a kernel draws only as it
// goes on; and what is close then, in more of them. With five bursts for all, two of six processes
// of an H200 took another gated product than the others at 1024 x 2048 x 8192 (133.9 and 135.5 us
// for 132.5 to 133.0), with 15 none of three.
constexpr int kFirstRounds = 3, kMoreRounds = 6, kBursts = 5, kMoreBursts = 10;
constexpr double kClose = 0.02;  // a share of the fastest's median time

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

// calls: that a round is of.
void capture(std::vector<Candidate>& candidates, int calls, cudaStream_t stream) {
  for (Candidate& candidate : candidates) {
    candidate.launches = std::make_unique<TimedLaunches>(candidate.launch, calls, stream);
    candidate.times_ms.clear();
  }
}

int calls_of_a_burst(const std::vector<Candidate>& candidates, cudaStream_t stream) {
  return launches_that_take(kBurstMs, candidates.front().launch, stream);
}

std::vector<Candidate*> pointers(std::vector<Candidate>& candidates) {
  std::vector<Candidate*> all;
  for (Candidate& candidate : candidates) all.push_back(&candidate);
  return all;
}

void time_rounds(std::vector<Candidate*> order, int rounds, std::mt19937& random) {
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (Candidate* const candidate : order) {
      const double ms = candidate->launches->ms();
      candidate->times_ms.push_back(ms);
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(2 * ms));
    }
  }
}

std::vector<std::vector<double>> times_of(const std::vector<Candidate>& candidates) {
  std::vector<std::vector<double>> times;
  for (const Candidate& candidate : candidates) times.push_back(candidate.times_ms);
  return times;
}

// The others stay candidates: one that is kept may lie further behind (kKept).
std::vector<Candidate*> close_pointers(std::vector<Candidate>& candidates, double margin) {
  std::vector<Candidate*> close;
  for (const std::size_t i : close_to_fastest(times_of(candidates), margin)) {
    close.push_back(&candidates[i]);
  }
  return close;
}

std::vector<Candidate> close_ones(std::vector<Candidate> candidates, double margin) {
  std::vector<Candidate> close;
  for (const std::size_t i : close_to_fastest(times_of(candidates), margin)) {
    close.push_back(std::move(candidates[i]));
  }
  return close;
}

// What is left of them after few rounds.
std::vector<Candidate> promising(CudaDevice& device,
                                 const std::vector<std::function<void()>>& launches,
                                 std::mt19937& random) {
  std::vector<Candidate> candidates = those_that_run(device, launches);
  if (candidates.size() == 1) return candidates;
  capture(candidates, launches_of_a_round(calls_of_a_burst(candidates, device.stream())),
          device.stream());
  time_rounds(pointers(candidates), kFirstRounds, random);
  return close_ones(std::move(candidates), kHopeless);
}

// The place of the one of that number, where it is left.
std::optional<std::size_t> place_of(std::optional<std::size_t> number,
                                    const std::vector<Candidate>& candidates) {
  const auto found = std::ranges::find_if(candidates, [&](const Candidate& candidate) {
    return number && candidate.number == *number;
  });
  if (found == candidates.end()) return std::nullopt;
  return static_cast<std::size_t>(found - candidates.begin());
}

// The fastest of several.
struct Few {
  std::vector<std::size_t> numbers;  // in the order given
  std::size_t fastest = 0;           // the number of the fastest
  bool far_ahead = false;            // whether it is left alone, the others being hopeless
};

// At most so many; and the kept one, where it is not hopeless and not among them.
Few fastest_few(CudaDevice& device, const std::vector<std::function<void()>>& launches,
                const Tensor& x, const Tensor& out, std::size_t most,
                std::optional<std::size_t> kept) {
  const RestoredTensor old_x(x, device.stream()), old_out(out, device.stream());
  device.fill(x, Fill::uniform(1.0), 1);
  std::mt19937 random(1);
  const std::vector<Candidate> candidates = promising(device, launches, random);
  const std::vector<std::vector<double>> times = times_of(candidates);
  Few few{.numbers = {},
          .fastest = candidates[fastest_places(times, 1).front()].number,
          .far_ahead = candidates.size() == 1 && !times.front().empty()};
  for (const std::size_t i : fastest_places(times, most)) {
    few.numbers.push_back(candidates[i].number);
  }
  const bool keep = place_of(kept, candidates).has_value();
  if (keep && std::ranges::find(few.numbers, *kept) == few.numbers.end()) {
    few.numbers.push_back(*kept);
  }
  return few;
}

std::vector<std::function<void()>> launches_of(const std::vector<Contestant>& contestants) {
  std::vector<std::function<void()>> launches;
  for (const Contestant& contestant : contestants) launches.push_back(contestant.launch);
  return launches;
}

std::string key_of(std::string work, const StageContest& stage) {
  work += "\n" + stage.stage;
  for (const Contestant& contestant : stage.contestants) work += "\n" + contestant.name;
  return work;
}

std::vector<std::string> names_of(const StageContest& stage) {
  std::vector<std::string> names;
  for (const Contestant& contestant : stage.contestants) names.push_back(contestant.name);
  return names;
}

ContestResult result_of(const CudaDevice& device, const StageContest& stage,
                        const TakenLaunch& taken) {
  const std::size_t rivals = stage.contestants.size();
  const std::string& name = stage.contestants[taken.place].name;
  if (rivals == 1) return {taken.place, name};
  std::string choice = choice_text("measured", taken.place, rivals, name);
  std::string note = why_taken(device.kept_choices(), stage.stage, choice, taken.ahead);
  return {taken.place, std::move(choice), std::move(note)};
}

std::optional<std::size_t> kept_of(const CudaDevice& device, const StageContest& stage) {
  return place_kept(device.kept_choices(), stage.stage, names_of(stage));
}

std::optional<std::size_t> taken_strictly(const CudaDevice& device, const StageContest& stage) {
  return place_taken_strictly(device.kept_choices(), stage.stage, names_of(stage));
}

std::function<void()> in_a_row(const std::function<void()>& before,
                               const std::function<void()>& after) {
  return [=] {
    before();
    after();
  };
}

// The number in the last part of so many, where it lies there.
std::optional<std::size_t> place_from(std::size_t begin, std::optional<std::size_t> number) {
  if (!number || *number < begin) return std::nullopt;
  return *number - begin;
}

struct FewPairs {
  Few firsts, seconds;
};

// Both, each once.
Few joined(Few few, const Few& more) {
  for (const std::size_t i : more.numbers) {
    if (std::ranges::find(few.numbers, i) == few.numbers.end()) few.numbers.push_back(i);
  }
  few.far_ahead = few.far_ahead && few.numbers.size() == 1;
  return few;
}

// Those of each stage that are measured in pairs: of the second stage's own the fastest alone, the
// fastest firsts in front of the best of these and alone, behind the best of the former the
// library's fastest.
FewPairs few_of_both(CudaDevice& device, const StageContest& first, const StageContest& second,
                     const Tensor& x, const Tensor& between, const Tensor& out) {
  // What is fastest alone need not be in a pair. At one token (an H200) the fastest pair was of the
  // third and the fourth, which those within a margin left out as often as not: 4.25 us for 4.02.
  constexpr std::size_t kMostOfEach = 6;
  // Of a library's the fastest behind one first kernel is not that behind another: with that one
  // alone, 1024 x 1024 x 8192 took 73.2 to 73.8 us in 4 of 12 processes of an H200 and 71.7 to 72.4
  // in the others.
  constexpr std::size_t kMostOfLibrary = 3;
  const auto kept_second = kept_of(device, second);
  const std::size_t library_at = second.contestants.size() - second.of_library;
  std::vector<std::function<void()>> firsts = launches_of(first.contestants);
  std::vector<std::function<void()>> alone = launches_of(second.contestants);
  std::vector<std::function<void()>> library = alone;
  library.erase(library.begin(), library.begin() + static_cast<std::ptrdiff_t>(library_at));
  // Without any of our own the library's best alone is what the firsts are measured in front of.
  if (library_at > 0) alone.resize(library_at);
  FewPairs few;
  few.seconds = fastest_few(device, alone, between, out, kMostOfEach, kept_second);
  // Picked alone only, an H100 took a pair of 17.7 us at two tokens of 2048 x 4096, where another
  // is of 14.2: both products' weights are 50.3 MB there, the gated one's 33.6, and the L2 has 50.
  // Picked in front of that second only, it took one of 94.0 us at eight tokens of 4096 x 11008,
  // where another, with another second, is of 92.2.
  const Few firsts_alone = fastest_few(device, firsts, x, between, kMostOfEach, std::nullopt);
  const std::function<void()> best_second = alone[few.seconds.fastest];
  for (std::function<void()>& launch : firsts) launch = in_a_row(launch, best_second);
  few.firsts = joined(fastest_few(device, firsts, x, out, kMostOfEach, kept_of(device, first)),
                      firsts_alone);
  if (library.empty()) return few;
  const std::function<void()> best_first = first.contestants[few.firsts.fastest].launch;
  for (std::function<void()>& launch : library) launch = in_a_row(best_first, launch);
  const Few of_library =
      fastest_few(device, library, x, out, kMostOfLibrary, place_from(library_at, kept_second));
  if (library_at == 0) {
    few.seconds = of_library;
    return few;
  }
  for (const std::size_t i : of_library.numbers) few.seconds.numbers.push_back(library_at + i);
  few.seconds.far_ahead = false;
  return few;
}

// Of first and second as they are numbered, in one number.
TakenLaunch fastest_pair(CudaDevice& device, const StageContest& first, const StageContest& second,
                         const Tensor& x, const Tensor& between, const Tensor& out) {
  const std::vector<std::function<void()>> firsts = launches_of(first.contestants);
  const std::vector<std::function<void()>> seconds = launches_of(second.contestants);
  const auto kept_first = kept_of(device, first), kept_second = kept_of(device, second);
  const FewPairs few = few_of_both(device, first, second, x, between, out);
  std::vector<std::size_t> numbers;
  std::vector<std::function<void()>> pairs;
  std::optional<std::size_t> kept;
  for (const std::size_t i : few.firsts.numbers) {
    for (const std::size_t j : few.seconds.numbers) {
      if (i == kept_first && j == kept_second) kept = pairs.size();
      numbers.push_back(i * seconds.size() + j);
      pairs.push_back(in_a_row(firsts[i], seconds[j]));
    }
  }
  TakenLaunch taken = fastest(device, pairs, x, out, kept);
  if (pairs.size() == 1 && (few.firsts.far_ahead || few.seconds.far_ahead)) taken.ahead = kHopeless;
  return {numbers[taken.place], taken.ahead};
}

}  // namespace

TakenLaunch fastest(CudaDevice& device, const std::vector<std::function<void()>>& launches,
                    const Tensor& x, const Tensor& out, std::optional<std::size_t> kept) {
  refuse_capture(device.stream(), "what is chosen by measuring");
  const RestoredTensor old_x(x, device.stream()), old_out(out, device.stream());
  device.fill(x, Fill::uniform(1.0), 1);
  std::mt19937 random(1);
  std::vector<Candidate> candidates = promising(device, launches, random);
  if (candidates.size() == 1) {
    const bool was_alone = candidates.front().times_ms.empty();
    return {candidates.front().number, was_alone ? TakenLaunch{}.ahead : kHopeless};
  }
  time_rounds(pointers(candidates), kMoreRounds, random);
  if (close_to_fastest(times_of(candidates), kKept).size() > 1) {
    candidates = close_ones(std::move(candidates), kKept);
    capture(candidates, calls_of_a_burst(candidates, device.stream()), device.stream());
    time_rounds(pointers(candidates), kBursts, random);
    time_rounds(close_pointers(candidates, kClose), kMoreBursts, random);
  }
  const TakenLaunch taken = take(times_of(candidates), place_of(kept, candidates));
  return {candidates[taken.place].number, taken.ahead};
}

PairResult contest_of_pairs(CudaDevice& device, const std::string& work, const StageContest& first,
                            const StageContest& second, const Tensor& x, const Tensor& between,
                            const Tensor& out) {
  const auto strictly_first = taken_strictly(device, first);
  const auto strictly_second = taken_strictly(device, second);
  if (strictly_first && strictly_second) {
    return {result_of(device, first, {*strictly_first}),
            result_of(device, second, {*strictly_second})};
  }
  const std::string key = key_of(key_of(work, first) + "\nthen", second);
  auto& choices = device.launch_choices();
  auto found = choices.find(key);
  if (found == choices.end()) {
    refuse_capture(device.stream(), "what is chosen by measuring");
    found = choices.emplace(key, fastest_pair(device, first, second, x, between, out)).first;
  }
  const auto [taken, ahead] = found->second;
  const std::size_t seconds = second.contestants.size();
  return {result_of(device, first, {taken / seconds, ahead}),
          result_of(device, second, {taken % seconds, ahead})};
}

}  // namespace fusegate::kernels
