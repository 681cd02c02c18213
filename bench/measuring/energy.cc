#include "bench/measuring/energy.h"

#include <algorithm>
#include <future>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace fusegate::bench {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kPatience = std::chrono::seconds(1);
// Leaves a core and the driver's locks to the launching thread, and is short beside 100 ms.
constexpr nanoseconds kReadInterval = std::chrono::milliseconds(1);

struct Moves {
  CounterMove first, last;
};

std::optional<CounterReading> read(const EnergySource& source) {
  const nanoseconds began = source.now();
  const std::optional<std::uint64_t> counter_mj = source.counter_mj();
  if (!counter_mj) return std::nullopt;
  return CounterReading{.counter_mj = *counter_mj, .began = began, .ended = source.now()};
}

// The first move, and the first that is at least the stretch later. The counter's value at the
// start is not a move.
std::optional<Moves> watch(const EnergySource& source, nanoseconds stretch,
                           const std::stop_token& stop) {
  std::optional<CounterReading> last = read(source);
  if (!last) return std::nullopt;
  nanoseconds moved_at = last->began;
  std::optional<CounterMove> first;
  while (!stop.stop_requested() && source.now() - moved_at < kPatience) {
    std::this_thread::sleep_for(kReadInterval);
    const std::optional<CounterReading> reading = read(source);
    if (!reading) continue;
    const CounterReading before = *std::exchange(last, reading);
    const std::optional<CounterMove> move = move_between(before, *reading);
    if (!move) continue;
    moved_at = move->at;
    if (!first) {
      first = move;
    } else if (move->at - first->at >= stretch) {
      return Moves{.first = *first, .last = *move};
    }
  }
  return std::nullopt;
}

// How many batches were through at a time, with the share of one that was under way. Nothing runs
// before the first border and after the last.
double batches_at(std::span<const nanoseconds> borders, nanoseconds at) {
  const auto next = std::ranges::upper_bound(borders, at);
  if (next == borders.begin()) return 0;
  const auto through = static_cast<double>(next - borders.begin() - 1);
  if (next == borders.end()) return through;
  const nanoseconds began = *std::prev(next);
  return through +
         static_cast<double>((at - began).count()) / static_cast<double>((*next - began).count());
}

}  // namespace

// The counter moved after the first read began and before the second one ended; the middle is wrong
// by half of that time at most. A constant delay is the same for both moves, and cancels.
std::optional<CounterMove> move_between(const CounterReading& before, const CounterReading& after) {
  if (after.counter_mj == before.counter_mj) return std::nullopt;
  return CounterMove{.counter_mj = after.counter_mj,
                     .at = before.began + (after.ended - before.began) / 2};
}

std::optional<CallEnergy> energy_between(const CounterMove& first, const CounterMove& last,
                                         std::span<const nanoseconds> batch_borders, int calls) {
  const double ran =
      calls * (batches_at(batch_borders, last.at) - batches_at(batch_borders, first.at));
  if (ran <= 0 || last.counter_mj <= first.counter_mj) return std::nullopt;
  const double joules = 1e-3 * static_cast<double>(last.counter_mj - first.counter_mj);
  return CallEnergy{.joules = joules / ran,
                    .power_w = joules / std::chrono::duration<double>(last.at - first.at).count()};
}

std::optional<CallEnergy> call_energy(const EnergySource& source, const std::function<void()>& run,
                                      int calls, nanoseconds stretch) {
  if (!source.counter_mj()) return std::nullopt;
  std::vector<nanoseconds> batch_borders{source.now()};
  std::packaged_task<std::optional<Moves>(const std::stop_token&)> watching(
      [&](const std::stop_token& stop) { return watch(source, stretch, stop); });
  std::future<std::optional<Moves>> seen = watching.get_future();
  // Stopped and joined on every way out.
  const std::jthread watcher(std::move(watching));
  bool is_over = false;
  do {
    // One batch more after the last move, so that the move fell into a batch.
    is_over = seen.wait_for(nanoseconds(0)) == std::future_status::ready;
    run();
    batch_borders.push_back(source.now());
  } while (!is_over);
  const std::optional<Moves> moves = seen.get();
  if (!moves) return std::nullopt;
  return energy_between(moves->first, moves->last, batch_borders, calls);
}

}  // namespace fusegate::bench
