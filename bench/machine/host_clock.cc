#include "bench/machine/host_clock.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <limits>
#include <utility>

#include "baselines/io/file_descriptor.h"

namespace fusegate::bench {
namespace {

double now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

class ThreadTime : public HostClock {
 public:
  HostReading read() override {
    const double thread_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    return {now_ns(CLOCK_MONOTONIC), thread_ns, thread_ns};
  }
  std::string cycles() const override { return "cpu_time"; }
};

// perf_event_open(2), which containers mostly forbid and virtual machines often lack.
int open_cycle_counter() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.pinned = 1;  // all of the time or not at all: nothing is to be extrapolated
  // What the system does in the thread's name, such as an interrupt, is the machine's.
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, /*pid=*/0, /*cpu=*/-1,
                                  /*group=*/-1, PERF_FLAG_FD_CLOEXEC));
}

class ThreadCycles : public HostClock {
 public:
  explicit ThreadCycles(baselines::FileDescriptor counter) : counter_(std::move(counter)) {}

  HostReading read() override {
    const double counted = cycles_so_far();
    return {now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_THREAD_CPUTIME_ID), counted};
  }
  std::string cycles() const override { return "cpu_cycles"; }
  // NaN where somebody else took the counter.
  double cycles_so_far() const {
    std::uint64_t count = 0;
    const bool is_read = ::read(counter_.get(), &count, sizeof count) == sizeof count;
    return is_read ? static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  baselines::FileDescriptor counter_;
};

}  // namespace

std::unique_ptr<HostClock> open_host_clock() {
  const int counter = open_cycle_counter();
  if (counter >= 0) {
    auto clock = std::make_unique<ThreadCycles>(baselines::FileDescriptor(counter));
    // A virtual machine may take the request and count nothing.
    const double before = clock->cycles_so_far();
    if (clock->cycles_so_far() > before) return clock;
  }
  return std::make_unique<ThreadTime>();
}

}  // namespace fusegate::bench
