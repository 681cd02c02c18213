#include "bench/measuring/timed_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "baselines/statistics/statistics.h"
#include "kernels/contract/expected.h"

namespace fusegate::bench {
namespace {

using kernels::Memory, kernels::Tensor;

bool overwrites_inputs(const kernels::Workspace& workspace) {
  return std::ranges::any_of(workspace.output_specs(), [](const kernels::TensorSpec& spec) {
    return !spec.in_place_of.empty();
  });
}

void poison_outputs(const TimedBatch& timed) {
  for (const Tensor& output : timed.workspace.outputs()) timed.device.poison(output);
}

std::vector<std::uint64_t> output_digests(const TimedBatch& timed) {
  std::vector<std::uint64_t> digests;
  for (const Tensor& output : timed.workspace.outputs()) {
    digests.push_back(timed.device.digest(output));
  }
  return digests;
}

Tensor tensor_at(const Memory& memory, const Tensor& like) {
  return {memory.data(), like.shape, like.dtype};
}

using Allocate = std::function<Memory(std::size_t bytes)>;

std::vector<Memory> memory_for_outputs(const TimedBatch& timed, const Allocate& allocate) {
  std::vector<Memory> memory;
  for (const Tensor& output : timed.workspace.outputs()) memory.push_back(allocate(output.bytes()));
  return memory;
}

// Enqueued: so the copies are of what there is when the calls have ended.
void copy_outputs(const TimedBatch& timed, const std::vector<Memory>& to) {
  if (timed.kernel.collect) timed.kernel.collect();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Tensor& output = timed.workspace.outputs()[i];
    timed.device.copy(output.data, to[i].data(), output.bytes());
  }
}

// The last of some calls may do its work by chance, so it is checked again: where calls are
// long, once.
constexpr int kTimesAgain = 7;
bool are_long(const TimedBatch& timed) { return timed.call_ns > 1e6; }

// Calls between which inputs change, the last time as Workspace::change does, and as many between
// which as much is copied elsewhere.
class ChangingCalls {
 public:
  ChangingCalls(const TimedBatch& timed, std::uint64_t seed, std::mt19937_64& random)
      : timed_(timed), seed_(seed), random_(random) {
    constexpr double kEnoughNs = 2e5;
    const int calls = static_cast<int>(std::clamp(kEnoughNs / timed.call_ns, 2.0, 16.0));
    others_.resize(static_cast<std::size_t>(calls));
    std::size_t bytes = 0;
    bool has_functions = false;
    for (std::size_t i = 0; i < timed.workspace.inputs().size(); ++i) {
      if (timed.workspace.changes_whole(i)) {
        has_functions = true;
        bytes += timed.workspace.inputs()[i].bytes();
      } else if (const auto window = timed.workspace.window(i, seed, seed)) {
        bytes += window->bytes;
      }
    }
    if (bytes > 0) elsewhere_ = timed.device.allocate(bytes);
    if (has_functions) {
      anew_.emplace(timed.device, timed.operation, timed.problem, seed + 1);
    }
  }

  int count() const { return static_cast<int>(others_.size()); }
  bool are_short() const { return others_.size() > 2 || anew_; }
  // As often as they are or less, and each time to other numbers but for the last. first: calls
  // after the first change.
  void run_to_seed(int first) {
    const int calls = std::uniform_int_distribution(2, count())(random_);
    draw();
    others_.back() = seed_ + 1;
    Changes changes = changes_to(std::span(others_).last(static_cast<std::size_t>(calls)), nullptr);
    // Where several calls follow a change, a kernel may count them.
    for (Change& change : changes) {
      if (change.calls > 1) change.calls += static_cast<int>(random_() % 2);
    }
    changes.front().calls = std::max(first, changes.front().calls);
    timed_.batch.run_changing(changes);
  }
  // The time in ns of all.
  double run() {
    draw();
    return timed_.batch.run_changing(changes_to(others_, nullptr));
  }
  double run_unchanged() {
    return timed_.batch.run_changing(
        changes_to(others_, static_cast<std::byte*>(elsewhere_.data())));
  }

 private:
  void draw() { std::ranges::generate(others_, std::ref(random_)); }
  // elsewhere: null where inputs change.
  Changes changes_to(std::span<const std::uint64_t> by_call, std::byte* elsewhere) const {
    Changes changes;
    const int calls = timed_.batch.fewest_calls();
    for (const std::uint64_t others : by_call) {
      changes.push_back({.enqueue = [=, this] { change(others, elsewhere); }, .calls = calls});
    }
    return changes;
  }
  void change(std::uint64_t others, std::byte* elsewhere) const {
    const auto put = [&](const void* from, void* to, std::size_t bytes) {
      timed_.device.copy(from, elsewhere != nullptr ? elsewhere : to, bytes);
      if (elsewhere != nullptr) elsewhere += bytes;
    };
    for (std::size_t i = 0; i < timed_.workspace.inputs().size(); ++i) {
      const Tensor& input = timed_.workspace.inputs()[i];
      if (timed_.workspace.changes_whole(i)) {
        put(anew_->inputs()[i].data, input.data, input.bytes());
      } else if (const auto window = timed_.workspace.window(i, seed_, others)) {
        put(window->others, window->data, window->bytes);
      }
    }
  }

  const TimedBatch& timed_;
  std::uint64_t seed_;
  std::mt19937_64& random_;
  std::vector<std::uint64_t> others_;  // seeds, by call
  Memory elsewhere_;
  std::optional<kernels::Workspace> anew_;  // for inputs filled by functions
};

// By more than sums that differ from call to call.
bool differs(const TimedBatch& timed, std::size_t output, const Memory& one, const Memory& other) {
  const Tensor& like = timed.workspace.outputs()[output];
  if (timed.device.digest(tensor_at(one, like)) == timed.device.digest(tensor_at(other, like))) {
    return false;
  }
  const auto count = static_cast<std::size_t>(like.count());
  const Memory wide = timed.device.allocate(count * sizeof(double));
  auto* const reference = static_cast<double*>(wide.data());
  kernels::ReferenceMath& math = timed.device.reference_math();
  math.widen(tensor_at(other, like), reference);
  const double error = math.compare(tensor_at(one, like), reference).relative();
  const auto& spec = timed.workspace.output_specs()[output];
  return !(error <= 2 * kernels::allowed_error(spec, like.dtype));
}

// Noise adds time, so the shortest of several count: on busy cores few are not interrupted, and a
// pause before each begins a new turn. But not the very shortest of hundreds: where a neighbour
// halves the speed of two cores, a lone one of 33 us among others of 53 was held against an honest
// kernel. What calls take whose inputs stay is known of long ones; of short ones not what the
// copies between them take.
void require_no_kept_results(const TimedBatch& timed, ChangingCalls& calls) {
  // Ranks wait for each other's hosts, which on busy cores takes as long as a short call.
  const double longer = timed.device.ranks().are_several() ? 3 : 1.5;
  constexpr int kFewest = 5;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  if (!calls.are_short() && calls.run() <= longer * calls.count() * timed.call_ns) return;
  constexpr double kShort = 0.1;
  std::vector<double> changing, same;
  double changing_ns = 0, same_ns = 0;
  const auto goes_on = [&] {
    return timed.device.ranks().all("looking for kept results",
                                    std::chrono::steady_clock::now() < patience);
  };
  for (int attempt = 0; attempt < kFewest || goes_on(); ++attempt) {
    const auto pause = std::chrono::milliseconds(attempt < 2 ? 0 : 1);
    same.push_back(calls.run_unchanged());
    std::this_thread::sleep_for(pause);
    changing.push_back(calls.run());
    std::this_thread::sleep_for(pause);
    same.push_back(calls.run_unchanged());
    changing_ns = baselines::quantile(changing, kShort);
    same_ns = baselines::quantile(same, kShort);
    // On busy cores the shortest of few may be long.
    if (attempt > 2 && changing_ns <= longer * same_ns) return;
  }
  throw std::runtime_error(
      fmt::format("keeps results: {} calls take {:.3g} us where inputs change between them, and "
                  "{:.3g} us where they stay",
                  calls.count(), changing_ns / 1e3, same_ns / 1e3));
}

void require_same(const TimedBatch& timed, const std::vector<Memory>& last_of_calls,
                  const std::vector<Memory>& of_batch) {
  for (std::size_t i = 0; i < last_of_calls.size(); ++i) {
    if (!differs(timed, i, last_of_calls[i], of_batch[i])) continue;
    throw std::runtime_error(
        "returns what it computed before: where inputs change between calls, the last call gives "
        "another result than calls on its inputs alone");
  }
}

// What the last of some calls gives, each on other inputs. first: calls on the first ones.
void last_results(const TimedBatch& timed, ChangingCalls& calls, int first,
                  const std::vector<Memory>& results) {
  poison_outputs(timed);  // lest the last call's be there already
  calls.run_to_seed(first);
  copy_outputs(timed, results);
}

// About as many as a sample has, where a kernel may do its work in the first calls only.
int most_calls(const TimedBatch& timed, std::mt19937_64& random) {
  return std::uniform_int_distribution((timed.calls + 1) / 2, timed.calls)(random);
}

// What follows on the stream waits for nothing else, so late results are not in the copies.
void require_written(const TimedBatch& timed, const std::vector<Memory>& copies,
                     const std::vector<std::uint64_t>& before) {
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Tensor& output = timed.workspace.outputs()[i];
    if (timed.device.digest(tensor_at(copies[i], output)) != before[i]) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (timed.device.digest(output) == before[i]) continue;  // it may look like poison
    throw std::runtime_error(
        fmt::format("its output '{}' is written after its calls have ended: it works on another "
                    "stream or thread",
                    timed.workspace.output_specs()[i].name));
  }
}

std::vector<Memory> lasting_copies(const TimedBatch& timed) {
  return memory_for_outputs(
      timed, [&](std::size_t bytes) { return timed.device.allocate_lasting(bytes); });
}

// What was enqueued has written. before: the digests then.
void collect(const TimedBatch& timed, const std::vector<Memory>& copies,
             const std::vector<std::uint64_t>& before) {
  copy_outputs(timed, copies);
  timed.device.synchronize();
  require_written(timed, copies, before);
}

std::vector<Memory> outputs_of_batch(const TimedBatch& timed) {
  std::vector<Memory> copies = lasting_copies(timed);
  poison_outputs(timed);
  const std::vector<std::uint64_t> before = output_digests(timed);
  std::this_thread::sleep_for(timed.idle);
  timed.batch.start();
  // What is left to be computed, when results are collected or elsewhere, has no inputs.
  for (const Tensor& input : timed.workspace.inputs()) timed.device.poison(input);
  collect(timed, copies, before);
  return copies;
}

// Of a call on the inputs as they were, after about as many calls as a sample has: the next one
// would read what it wrote.
std::vector<Memory> outputs_in_place(const TimedBatch& timed, std::mt19937_64& random) {
  std::vector<Memory> copies = lasting_copies(timed);
  const std::vector<std::uint64_t> before = output_digests(timed);
  std::vector<std::pair<Tensor, Memory>> overwritten;
  for (std::size_t i = 0; i < timed.workspace.outputs().size(); ++i) {
    if (timed.workspace.output_specs()[i].in_place_of.empty()) continue;
    const Tensor& tensor = timed.workspace.outputs()[i];
    overwritten.emplace_back(tensor, timed.device.allocate(tensor.bytes()));
    timed.device.copy(tensor.data, overwritten.back().second.data(), tensor.bytes());
  }
  const auto restore = [&] {
    for (const auto& [tensor, inputs] : overwritten) {
      timed.device.copy(inputs.data(), tensor.data, tensor.bytes());
    }
  };
  const auto run = [&] {
    timed.batch.run_changing(
        {{.enqueue = restore, .calls = most_calls(timed, random)}, {.enqueue = restore}});
  };
  std::this_thread::sleep_for(timed.idle);
  run();
  collect(timed, copies, before);
  if (are_long(timed)) return copies;
  const std::vector<Memory> again =
      memory_for_outputs(timed, [&](std::size_t bytes) { return timed.device.allocate(bytes); });
  for (int time = 0; time < kTimesAgain; ++time) {
    run();
    copy_outputs(timed, again);
    require_same(timed, again, copies);
  }
  return copies;
}

// Whether there is room for the inputs once more.
bool can_change(const TimedBatch& timed) {
  const bool has_room = kernels::tensor_bytes(timed.operation, timed.problem) <
                        static_cast<double>(timed.device.available_bytes());
  return !overwrites_inputs(timed.workspace) &&
         timed.device.ranks().all("room for the inputs once more", has_room);
}

}  // namespace

std::vector<Memory> check_timed(const TimedBatch& timed, std::uint64_t seed,
                                std::mt19937_64& random) {
  timed.workspace.restore(seed);
  if (!can_change(timed)) {
    timed.workspace.change(seed);
    return overwrites_inputs(timed.workspace) ? outputs_in_place(timed, random)
                                              : outputs_of_batch(timed);
  }
  ChangingCalls calls(timed, seed, random);
  const std::vector<Memory> last =
      memory_for_outputs(timed, [&](std::size_t bytes) { return timed.device.allocate(bytes); });
  std::this_thread::sleep_for(timed.idle);
  // So many that a kernel that works in the first calls after a pause has stopped.
  const auto many = [&] { return are_long(timed) ? 1 : most_calls(timed, random); };
  last_results(timed, calls, many(), last);
  std::vector<Memory> outputs = outputs_of_batch(timed);
  require_same(timed, last, outputs);
  timed.workspace.restore(seed);
  for (int time = 0; time < (are_long(timed) ? 1 : kTimesAgain); ++time) {
    last_results(timed, calls, time % 2 == 1 ? many() : 1, last);
    require_same(timed, last, outputs);
  }
  require_no_kept_results(timed, calls);
  return outputs;
}

}  // namespace fusegate::bench
