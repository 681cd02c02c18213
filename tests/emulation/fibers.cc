#include "tests/emulation/fibers.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace fusegate::kernels::emulation {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;

// Of all fibers, reused by the next run: new pages cost more than the fibers.
std::byte* stacks(std::size_t count) {
  static std::unique_ptr<std::byte[]> all;
  static std::size_t all_count = 0;
  if (count > all_count) {
    all = std::make_unique_for_overwrite<std::byte[]>(count * kStackBytes);
    all_count = count;
  }
  return all.get();
}

template <typename T>
T take(std::vector<T>& from, std::size_t index) {
  std::swap(from[index], from.back());
  T taken = std::move(from.back());
  from.pop_back();
  return taken;
}

}  // namespace

// makecontext passes ints: the object's address in two halves.
void Fibers::enter(unsigned high, unsigned low) {
  auto* const self = reinterpret_cast<Fibers*>(std::uintptr_t{high} << 32 | low);
  Fiber& fiber = self->fibers_[static_cast<std::size_t>(self->current_)];
  try {
    self->body_(self->current_);
  } catch (...) {
    self->error_ = std::current_exception();
  }
  fiber.has_ended = true;
  swapcontext(&fiber.context, &self->scheduler_);
}

void Fibers::start(int fiber) {
  ucontext_t& context = fibers_[static_cast<std::size_t>(fiber)].context;
  getcontext(&context);
  context.uc_stack.ss_sp = stacks(fibers_.size()) + static_cast<std::size_t>(fiber) * kStackBytes;
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

void Fibers::run(int count, std::function<void(int)> body) {
  body_ = std::move(body);
  fibers_.assign(static_cast<std::size_t>(count), Fiber{});
  for (int i = 0; i < count; ++i) start(i);
  ready_.resize(static_cast<std::size_t>(count));
  std::iota(ready_.begin(), ready_.end(), 0);
  const int lags[] = {0, 1, 32, 128, (count + 1) / 2};  // the last may be a GPU's
  lag_count_ = lags[draw(std::size(lags))];
  if (lag_count_ > 0) {
    lag_from_ = static_cast<int>(draw(static_cast<std::size_t>(count))) / lag_count_ * lag_count_;
  }
  event_every_ = std::size_t{1} << draw(8);
  while (!ready_.empty() || !events_.empty()) {
    const bool is_event = !events_.empty() && (ready_.empty() || draw(event_every_) == 0);
    is_event ? run_event() : run_fiber();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  if (const std::string waiting = who_waits(); !waiting.empty()) {
    throw std::runtime_error("deadlock: " + waiting);
  }
}

void Fibers::run_event() { take(events_, draw(events_.size()))(); }

std::size_t Fibers::draw_ready() {
  constexpr int kTries = 16;  // then those who lag go on
  std::size_t drawn = 0;
  for (int i = 0; i < kTries; ++i) {
    drawn = draw(ready_.size());
    const int fiber = ready_[drawn];
    if (fiber < lag_from_ || fiber >= lag_from_ + lag_count_) break;
  }
  return drawn;
}

void Fibers::run_fiber() {
  current_ = take(ready_, draw_ready());
  swapcontext(&scheduler_, &fibers_[static_cast<std::size_t>(current_)].context);
}

void Fibers::wait(Queue& queue, const char* what) {
  queue.push_back(current_);
  Fiber& fiber = fibers_[static_cast<std::size_t>(current_)];
  fiber.waits_for = what;
  swapcontext(&fiber.context, &scheduler_);
}

void Fibers::wake(Queue& queue) {
  ready_.insert(ready_.end(), queue.begin(), queue.end());
  queue.clear();
}

std::string Fibers::who_waits() const {
  std::map<std::string, int> counts;
  for (const Fiber& fiber : fibers_) {
    if (!fiber.has_ended) ++counts[fiber.waits_for];
  }
  std::string text;
  for (const auto& [what, count] : counts) {
    text += fmt::format("{}{} threads wait for {}", text.empty() ? "" : ", ", count, what);
  }
  return text;
}

}  // namespace fusegate::kernels::emulation
