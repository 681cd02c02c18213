// The energy of a call, from a counter of the device that moves in steps: calls run back to back,
// and the counter's rise between two moves is divided among them.
//
// NVML's counter on an H200 (driver 580.159.04) moves every 100 ms, by whole millijoules. A read
// may take as long as a batch of 1.5 ms, so a second thread reads. With one thread for both, a call
// of at most 173 us seemed to take 207.9 mJ, which is 1,200 W on a card limited to 700 W; the mean
// power, recorded beside the energy, shows such a fault.
//
// A move lies between two reads, and the calls done by then are interpolated. The pauses in which
// the host launches the next batch are included; nobody measured them. All of this happens after
// the timed samples, at the sustained load that these avoid.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace fusegate::bench {

// now is called by two threads at once, counter_mj by one at a time.
struct EnergySource {
  std::function<std::optional<std::uint64_t>()> counter_mj;  // of the device, since it was started
  std::function<std::chrono::nanoseconds()> now;             // of a steady clock
};

struct CounterReading {
  std::uint64_t counter_mj = 0;
  std::chrono::nanoseconds began{0}, ended{0};  // the read
};

// When the counter moved to a value.
struct CounterMove {
  std::uint64_t counter_mj = 0;
  std::chrono::nanoseconds at{0};
};

struct CallEnergy {
  double joules = 0;   // of one call
  double power_w = 0;  // mean, while the calls ran
};

// Nothing where both readings have the same value.
std::optional<CounterMove> move_between(const CounterReading& before, const CounterReading& after);

// batch_borders: when the first batch of so many calls began, and when each ended. Nothing where no
// call ran between the moves, or the counter did not rise.
std::optional<CallEnergy> energy_between(const CounterMove& first, const CounterMove& last,
                                         std::span<const std::chrono::nanoseconds> batch_borders,
                                         int calls);

// run: runs a batch of so many calls and waits for the device. stretch: the least time between the
// moves. Nothing where the counter cannot be read (then nothing is run) or does not move for a
// second. Throws what run and the source throw.
std::optional<CallEnergy> call_energy(const EnergySource& source, const std::function<void()>& run,
                                      int calls, std::chrono::nanoseconds stretch);

}  // namespace fusegate::bench
