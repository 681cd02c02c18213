// The energy that a call takes, by a counter of the device's that moves only now and then: calls
// run back to back, and what the counter rose by between two moves is theirs.
//
// NVML's counter on an H200 (driver 580.159.04) moves every 100 ms, by whole millijoules. To read
// it may take as long as a batch of 1.5 ms, so a thread of its own reads it, and the device does
// not wait for that. With one thread for both, a call of at most 173 us seemed to take 207.9 mJ,
// which is 1,200 W on a card that is held to 700 W; the power that is told beside it shows such a
// fault.
//
// A move is known to two reads, and where the calls were then is interpolated. Between two batches
// the device still waits for the host to launch the next one; nobody measured how much that is. All
// of it is outside of the timed samples, and at the sustained load which these avoid.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace fusegate::bench {

// The time is asked for by two threads at once, the counter by one at a time.
struct EnergySource {
  std::function<std::optional<std::uint64_t>()> counter_mj;  // of the device, since it was started
  std::function<std::chrono::nanoseconds()> now;             // of a steady clock
};

struct CounterReading {
  std::uint64_t counter_mj = 0;
  std::chrono::nanoseconds began{0}, ended{0};  // the read
};

// From when on the counter was at a value.
struct CounterMove {
  std::uint64_t counter_mj = 0;
  std::chrono::nanoseconds at{0};
};

struct CallEnergy {
  double joules = 0;   // of one call
  double power_w = 0;  // mean, while the calls ran
};

// Nothing where two readings that follow each other have the same value.
std::optional<CounterMove> move_between(const CounterReading& before, const CounterReading& after);

// batch_borders: when the first batch of so many calls began, and when each ended. Nothing where no
// call ran between the moves, or the counter did not rise.
std::optional<CallEnergy> energy_between(const CounterMove& first, const CounterMove& last,
                                         std::span<const std::chrono::nanoseconds> batch_borders,
                                         int calls);

// run: a batch of so many calls, until the device is through. The moves lie the stretch apart, or
// longer. Nothing where the counter cannot be read, and then nothing is run, or does not move for a
// second. Throws what run and the source throw.
std::optional<CallEnergy> call_energy(const EnergySource& source, const std::function<void()>& run,
                                      int calls, std::chrono::nanoseconds stretch);

}  // namespace fusegate::bench
