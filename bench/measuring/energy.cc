#include "bench/measuring/energy.h"

namespace fusegate::bench {
namespace {

// The counter right after it moved.
struct Move {
  std::uint64_t counter_mj = 0;
  std::chrono::nanoseconds at{0};
  std::int64_t batches = 0;  // that were run before
};

// Runs batches until the counter moves at or after the time.
std::optional<Move> next_move(const EnergySource& source, const std::function<void()>& run,
                              std::chrono::nanoseconds not_before) {
  constexpr std::chrono::seconds kPatience(1);
  std::optional<std::uint64_t> last = source.counter_mj();
  std::chrono::nanoseconds moved_at = source.now();
  Move move;
  while (last && source.now() - moved_at < kPatience) {
    run();
    ++move.batches;
    const std::optional<std::uint64_t> counter = source.counter_mj();
    if (!counter || *counter == *last) continue;
    last = counter;
    moved_at = source.now();
    if (moved_at < not_before) continue;
    move.counter_mj = *counter;
    move.at = moved_at;
    return move;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> energy_per_call_j(const EnergySource& source,
                                        const std::function<void()>& run, int calls,
                                        std::chrono::nanoseconds stretch) {
  const auto first = next_move(source, run, source.now());
  if (!first) return std::nullopt;
  const auto last = next_move(source, run, first->at + stretch);
  if (!last) return std::nullopt;
  return 1e-3 * static_cast<double>(last->counter_mj - first->counter_mj) /
         (static_cast<double>(last->batches) * calls);
}

}  // namespace fusegate::bench
