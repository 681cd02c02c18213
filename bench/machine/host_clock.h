// The clocks of the CPU's meter: wall time, and the calling thread's CPU time, which other work on
// the machine lengthens less.
//
// The calling thread's, not the process's: a kernel with several threads has its caller wait at
// barriers, so the caller's CPU time is the call's time without interruptions. The sum over all
// threads would not show that a kernel lost its threads.
#pragma once

#include <memory>
#include <string>

namespace fusegate::bench {

struct HostReading {
  double wall_ns = 0;
  double thread_ns = 0;  // CPU time of the calling thread
  double cycles = 0;     // of the thread in user mode; or its CPU time in ns
};

class HostClock {
 public:
  virtual ~HostClock() = default;
  virtual HostReading read() = 0;
  // "cpu_cycles" where the process may count them, else "cpu_time".
  virtual std::string cycles() const = 0;
};

// Clocks of the thread that opens it.
std::unique_ptr<HostClock> open_host_clock();

}  // namespace fusegate::bench
