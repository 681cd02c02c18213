// Notices work that never ends, and knows what the rest took. An endless kernel blocks the thread
// that waits for it, so another thread watches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace fusegate::bench {

inline constexpr std::chrono::nanoseconds kNoTimeout = std::chrono::nanoseconds::max();

class Watchdog {
 public:
  // What did not end within the patience, or soon after a signal (interrupt.h).
  struct Stuck {
    std::size_t benchmark = 0;
    bool is_after_signal = false;
  };
  // on_stuck: called from the watchdog's thread, at most once. The thread that waits for the stuck
  // work is blocked meanwhile, so on_stuck may record the failure and end the process.
  Watchdog(std::chrono::nanoseconds patience, std::function<void(const Stuck&)> on_stuck);
  // Its thread refers to it.
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // A piece of the benchmark's work, watched while it exists. One at a time.
  class Piece {
   public:
    Piece(Watchdog& watchdog, std::size_t benchmark);
    ~Piece();
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

   private:
    Watchdog& watchdog_;
  };

  // What the benchmark's pieces that have ended took in all.
  std::chrono::nanoseconds spent_on(std::size_t benchmark) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Begun {
    std::size_t benchmark = 0;
    Clock::time_point at;
  };

  void watch(const std::stop_token& stop);
  std::optional<Stuck> stuck(Clock::time_point now);

  const std::chrono::nanoseconds patience_;
  const std::function<void(const Stuck&)> on_stuck_;
  mutable std::mutex mutex_;
  std::condition_variable_any ends_;
  std::optional<Begun> begun_;
  std::map<std::size_t, std::chrono::nanoseconds> spent_;  // by benchmark
  std::optional<Clock::time_point> signalled_;  // when the signal was noticed
  std::jthread thread_;                         // constructed last: it uses the others
};

}  // namespace fusegate::bench
