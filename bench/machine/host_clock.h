// What the CPU's meter takes a batch by: the wall's clock, and what of the CPU the calling thread
// used, which other work on the machine lengthens less.
//
// The calling thread's alone and not the process's: where a kernel has several threads, the caller
// waits for them at its barriers, so that its own CPU time is the time of the call less what the
// caller was held up by. The sum over all threads would not show that a kernel lost its threads.
#pragma once

#include <memory>
#include <string>

namespace fusegate::bench {

struct HostReading {
  double wall_ns = 0;
  double thread_ns = 0;  // CPU time of the calling thread
  double cycles = 0;     // that it used, in user mode; or its CPU time once more
};

class HostClock {
 public:
  virtual ~HostClock() = default;
  virtual HostReading read() = 0;
  // "cpu_cycles" where the kernel lets the process count them, else "cpu_time".
  virtual std::string cycles() const = 0;
};

// Of the thread that opens it.
std::unique_ptr<HostClock> open_host_clock();

}  // namespace fusegate::bench
