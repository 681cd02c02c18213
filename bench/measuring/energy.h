// The energy that a call takes, by a counter of the device's that moves only now and then: calls
// run back to back over a whole number of its steps.
//
// NVML's counter on an H200 (driver 580.159.04) moves every 100 ms, by whole millijoules. Between
// two moves that are seen, the calls are known to one batch of 1.5 ms, so that 300 ms tell the
// energy of a call to about half a percent. It is measured outside of the timed samples, and at the
// sustained load which these avoid.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace fusegate::bench {

struct EnergySource {
  std::function<std::optional<std::uint64_t>()> counter_mj;  // of the device, since it was started
  std::function<std::chrono::nanoseconds()> now;             // of a steady clock
};

// In joules. run: a batch of so many calls, until the device is through. Nothing where the counter
// cannot be read or does not move for a second.
std::optional<double> energy_per_call_j(const EnergySource& source,
                                        const std::function<void()>& run, int calls,
                                        std::chrono::nanoseconds stretch);

}  // namespace fusegate::bench
