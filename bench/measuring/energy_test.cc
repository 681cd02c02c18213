#include "bench/measuring/energy.h"

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace fusegate::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(MoveBetween, IsTheMiddleOfTheTwoReads) {
  const CounterReading before{
      .counter_mj = 1, .began = milliseconds(10), .ended = milliseconds(11)};
  const CounterReading after{.counter_mj = 5, .began = milliseconds(12), .ended = milliseconds(20)};
  EXPECT_EQ(move_between(before, after).value().at, milliseconds(15));
  EXPECT_EQ(move_between(before, after).value().counter_mj, 5u);
}

TEST(MoveBetween, IsNoneWhereTheValueIsTheSame) {
  EXPECT_FALSE(move_between({.counter_mj = 1}, {.counter_mj = 1, .ended = milliseconds(1)}));
}

// Batches of 2, 4 and 2 ms, ten calls each.
constexpr std::array<nanoseconds, 4> kBorders{milliseconds(10), milliseconds(12), milliseconds(16),
                                              milliseconds(18)};

std::optional<CallEnergy> energy_of_2_joules(milliseconds from, milliseconds to) {
  return energy_between({1000, from}, {3000, to}, kBorders, 10);
}

TEST(EnergyBetween, IsTheCountersDifferenceOverTheCallsThatRan) {
  const CallEnergy energy = energy_of_2_joules(milliseconds(12), milliseconds(18)).value();
  EXPECT_DOUBLE_EQ(energy.joules, 0.1);
  EXPECT_DOUBLE_EQ(energy.power_w, 2 / 6e-3);
}

TEST(EnergyBetween, DividesTheBatchThatRanAtAMove) {
  // Half of the first batch, and three quarters of the second one.
  const CallEnergy energy = energy_of_2_joules(milliseconds(11), milliseconds(15)).value();
  EXPECT_DOUBLE_EQ(energy.joules, 2 / 12.5);
  EXPECT_DOUBLE_EQ(energy.power_w, 500);
}

TEST(EnergyBetween, HasNoCallsBeforeTheFirstBatchAndAfterTheLast) {
  EXPECT_DOUBLE_EQ(energy_of_2_joules(milliseconds(3), milliseconds(25))->joules, 2 / 30.0);
}

TEST(EnergyBetween, IsUnknownWhereNoCallRan) {
  EXPECT_FALSE(energy_of_2_joules(milliseconds(1), milliseconds(9)));
  EXPECT_FALSE(energy_of_2_joules(milliseconds(20), milliseconds(25)));
  EXPECT_FALSE(energy_of_2_joules(milliseconds(14), milliseconds(14)));
}

TEST(EnergyBetween, IsUnknownWhereTheCounterBeganAnew) {
  EXPECT_FALSE(energy_between({3000, milliseconds(12)}, {1000, milliseconds(18)}, kBorders, 10));
}

// A device that takes so many watts, and whose counter moves every 100 ms of its own time. That
// passes in run() alone, which waits until the counter was read twice since: the second of these
// reads began at that time, so that what is seen does not depend on how the threads are scheduled.
class FakeDevice {
 public:
  static constexpr double kWatts = 500;

  explicit FakeDevice(milliseconds batch) : batch_(batch) {}

  EnergySource source() {
    return {.counter_mj = [this] { return counter_mj(); }, .now = [this] { return now(); }};
  }
  void run() {
    std::unique_lock lock(mutex_);
    time_ += batch_;
    ++batches;
    const int enough = reads_ + 2;
    // Nobody reads any more once all is seen.
    was_read_.wait_for(lock, milliseconds(100), [&] { return reads_ >= enough; });
  }
  nanoseconds now() {
    const std::lock_guard lock(mutex_);
    return time_;
  }
  int reads() {
    const std::lock_guard lock(mutex_);
    return reads_;
  }

  bool moves = true;
  int readable = 1 << 20;  // reads that are answered
  int batches = 0;

 private:
  std::optional<std::uint64_t> counter_mj() {
    const std::lock_guard lock(mutex_);
    ++reads_;
    was_read_.notify_all();
    if (reads_ > readable) return std::nullopt;
    const auto steps = moves ? time_ / milliseconds(100) : 0;
    return static_cast<std::uint64_t>(static_cast<double>(steps) * 100 * kWatts);
  }

  const milliseconds batch_;
  std::mutex mutex_;
  std::condition_variable was_read_;
  nanoseconds time_{milliseconds(37)};
  int reads_ = 0;
};

std::optional<CallEnergy> energy_of(FakeDevice& device, int calls) {
  return call_energy(
      device.source(), [&] { device.run(); }, calls, milliseconds(300));
}

TEST(CallEnergy, IsThePowerTimesTheTimeOfACall) {
  FakeDevice device(milliseconds(9));
  const CallEnergy energy = energy_of(device, 10).value();
  // The counter moves at 100 and 400 ms. It is read at 91 and 100 ms and at 397 and 406 ms.
  EXPECT_NEAR(energy.power_w, FakeDevice::kWatts * 300 / 306, 1e-6);
  EXPECT_NEAR(energy.joules, energy.power_w * 9e-3 / 10, 1e-9);
  EXPECT_GE(device.now(), milliseconds(406));
  EXPECT_LE(device.now(), milliseconds(430));
}

TEST(CallEnergy, IsUnknownWhereTheCounterStandsStill) {
  FakeDevice device(milliseconds(50));
  device.moves = false;
  EXPECT_FALSE(energy_of(device, 1));
  EXPECT_GE(device.now(), milliseconds(1037));
  EXPECT_LE(device.now(), milliseconds(1200));
}

TEST(CallEnergy, IsUnknownWhereTheCounterAnswersNoMore) {
  FakeDevice device(milliseconds(50));
  device.readable = 5;
  EXPECT_FALSE(energy_of(device, 1));
  EXPECT_LE(device.now(), milliseconds(1300));
}

TEST(CallEnergy, RunsNothingWithoutACounter) {
  FakeDevice device(milliseconds(2));
  device.readable = 0;
  EXPECT_FALSE(energy_of(device, 1));
  EXPECT_EQ(device.batches, 0);
}

TEST(CallEnergy, StopsReadingWhereACallFails) {
  FakeDevice device(milliseconds(2));
  const auto run = [&] {
    device.run();
    throw std::runtime_error("lost");
  };
  EXPECT_THROW(call_energy(device.source(), run, 1, milliseconds(300)), std::runtime_error);
  const int reads = device.reads();
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(device.reads(), reads);
}

TEST(CallEnergy, HandsOnWhatTheCounterThrows) {
  FakeDevice device(milliseconds(2));
  EnergySource source = device.source();
  source.counter_mj = [&, counter = source.counter_mj] {
    const auto value = counter();
    if (device.reads() > 3) throw std::runtime_error("lost");
    return value;
  };
  EXPECT_THROW(call_energy(
                   source, [&] { device.run(); }, 1, milliseconds(300)),
               std::runtime_error);
}

}  // namespace
}  // namespace fusegate::bench
