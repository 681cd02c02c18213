#include "bench/measuring/energy.h"

#include <gtest/gtest.h>

namespace fusegate::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A device that takes so many watts, and whose counter moves every 100 ms.
struct FakeDevice {
  double watts = 500;
  milliseconds batch{2};
  nanoseconds time{milliseconds(37)};
  bool moves = true;
  int batches = 0;

  EnergySource source() {
    return {.counter_mj = [this]() -> std::optional<std::uint64_t> {
              const auto steps = moves ? time / milliseconds(100) : 0;
              return static_cast<std::uint64_t>(static_cast<double>(steps) * 100 * watts);
            },
            .now = [this] { return time; }};
  }
  void run() {
    time += batch;
    ++batches;
  }
};

std::optional<double> energy_of(FakeDevice& device, int calls) {
  return energy_per_call_j(
      device.source(), [&] { device.run(); }, calls, milliseconds(300));
}

TEST(EnergyPerCall, IsThePowerTimesTheTimeOfACall) {
  FakeDevice device;
  // 2 ms at 500 W are one joule a batch.
  EXPECT_NEAR(energy_of(device, 10).value(), 0.1, 1e-9);
  EXPECT_GE(device.batches, 150);
  EXPECT_LE(device.batches, 250);
}

TEST(EnergyPerCall, IsKnownToABatchWhereTheCounterMovesWithinOne) {
  FakeDevice device;
  device.batch = milliseconds(7);
  EXPECT_NEAR(energy_of(device, 1).value(), 3.5, 3.5 * 7 / 300);
}

TEST(EnergyPerCall, IsUnknownWhereTheCounterStandsStill) {
  FakeDevice device;
  device.moves = false;
  EXPECT_FALSE(energy_of(device, 1).has_value());
  EXPECT_LE(device.time, milliseconds(1100));
}

TEST(EnergyPerCall, IsUnknownWithoutACounter) {
  FakeDevice device;
  EnergySource source = device.source();
  source.counter_mj = [] { return std::optional<std::uint64_t>(); };
  EXPECT_FALSE(energy_per_call_j(
                   source, [&] { device.run(); }, 1, milliseconds(300))
                   .has_value());
  EXPECT_EQ(device.batches, 0);
}

}  // namespace
}  // namespace fusegate::bench
