// Functions that run in turn on one thread of the CPU, each until it waits or ends. The next one is
// random, and so are neighbours that lag while others can go on: one, a warp, a warpgroup or half
// of all. So each seed tries another order.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace fusegate::kernels::emulation {

// Fibers that wait for the same event.
using Queue = std::vector<int>;

class Fibers {
 public:
  explicit Fibers(unsigned seed) : random_(seed) {}

  // Runs body(0) to body(count - 1) to their ends. Throws what one of them threw, and
  // std::runtime_error where all remaining ones wait.
  void run(int count, std::function<void(int)> body);

  // The running fiber.
  int current() const { return current_; }
  // Until another wakes the queue. what: for the message about a deadlock.
  void wait(Queue& queue, const char* what);
  void wake(Queue& queue);
  // Calls event between two fibers at a random time, at the latest when all wait: an asynchronous
  // copy.
  void later(std::function<void()> event) { events_.push_back(std::move(event)); }

 private:
  struct Fiber {
    ucontext_t context;
    const char* waits_for = nullptr;
    bool has_ended = false;
  };

  static void enter(unsigned high, unsigned low);
  void start(int fiber);
  void run_event();
  void run_fiber();
  std::string who_waits() const;
  std::size_t draw(std::size_t count) { return random_() % count; }
  std::size_t draw_ready();

  std::minstd_rand random_;
  std::vector<Fiber> fibers_;
  std::vector<int> ready_;
  std::vector<std::function<void()>> events_;
  std::function<void(int)> body_;
  std::exception_ptr error_;
  ucontext_t scheduler_{};
  int current_ = -1;
  int lag_from_ = 0, lag_count_ = 0;  // those that lag
  std::size_t event_every_ = 1;       // choices per event
};

}  // namespace fusegate::kernels::emulation
