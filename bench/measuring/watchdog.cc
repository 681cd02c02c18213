#include "bench/measuring/watchdog.h"

#include <algorithm>
#include <utility>

#include "bench/ranks/interrupt.h"

namespace fusegate::bench {
namespace {

using std::chrono::nanoseconds;

// `fusegate run` kills a program ten seconds after the signal.
constexpr nanoseconds kAfterSignal = std::chrono::seconds(5);
// Long enough to disturb no sample.
constexpr nanoseconds kPollInterval = std::chrono::seconds(1);

}  // namespace

Watchdog::Watchdog(nanoseconds patience, std::function<void(const Stuck&)> on_stuck)
    : patience_(patience),
      on_stuck_(std::move(on_stuck)),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

Watchdog::Piece::Piece(Watchdog& watchdog, std::size_t benchmark) : watchdog_(watchdog) {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.begun_ = {benchmark, Clock::now()};
}

Watchdog::Piece::~Piece() {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.spent_[watchdog_.begun_->benchmark] += Clock::now() - watchdog_.begun_->at;
  watchdog_.begun_.reset();
}

nanoseconds Watchdog::spent_on(std::size_t benchmark) const {
  const std::lock_guard lock(mutex_);
  const auto found = spent_.find(benchmark);
  return found == spent_.end() ? nanoseconds(0) : found->second;
}

std::optional<Watchdog::Stuck> Watchdog::stuck(Clock::time_point now) {
  if (signalled_here() && !signalled_) signalled_ = now;
  if (!begun_) return std::nullopt;
  if (signalled_ && now - std::max(*signalled_, begun_->at) >= kAfterSignal) {
    return Stuck{.benchmark = begun_->benchmark, .is_after_signal = true};
  }
  if (now - begun_->at >= patience_) return Stuck{.benchmark = begun_->benchmark};
  return std::nullopt;
}

void Watchdog::watch(const std::stop_token& stop) {
  const nanoseconds pause = std::min(kPollInterval, patience_ / 4);
  std::unique_lock lock(mutex_);
  const auto ends = [&] { return stop.stop_requested(); };
  while (!ends_.wait_for(lock, stop, pause, ends)) {
    if (const std::optional<Stuck> found = stuck(Clock::now())) return on_stuck_(*found);
  }
}

}  // namespace fusegate::bench
