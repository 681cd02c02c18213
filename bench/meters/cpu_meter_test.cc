// A batch on the CPU, by a clock that only the kernel moves.
#include "bench/meters/cpu_meter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/machine/environment_probe.h"
#include "kernels/contract/device.h"

namespace fusegate::bench {
namespace {

struct FakeHostClock : HostClock {
  explicit FakeHostClock(HostReading& now) : now(now) {}
  HostReading read() override { return now; }
  std::string cycles() const override { return "fake"; }
  HostReading& now;
};

class CpuMeterTest : public testing::Test {
 protected:
  CpuMeterTest() {
    kernels::Stage& stage = kernel_.stages.emplace_back();
    stage.launch = [this] {
      now_.wall_ns += call_.wall_ns;
      now_.thread_ns += call_.thread_ns;
      now_.cycles += call_.cycles;
    };
  }
  Sample sample(int calls) { return meter_->record(kernel_, {.calls = calls})->run(); }

  HostReading now_{.wall_ns = 1e9, .thread_ns = 5e8, .cycles = 7e8};
  HostReading call_{.wall_ns = 1000, .thread_ns = 1000, .cycles = 2600};
  std::unique_ptr<kernels::Device> device_ = kernels::open_device("cpu");
  std::unique_ptr<Meter> meter_ = make_cpu_meter(*device_, std::make_unique<FakeHostClock>(now_));
  kernels::PreparedKernel kernel_;
};

TEST_F(CpuMeterTest, ABatchIsTheWallsTimeAndTheThreadsCycles) {
  const Sample quiet = sample(10);
  EXPECT_DOUBLE_EQ(quiet.batch_ns, 10'000);
  EXPECT_DOUBLE_EQ(quiet.batch_ns * quiet.sm_clock_hz * 1e-9, 26'000);
  EXPECT_DOUBLE_EQ(quiet.held_up_ns, 0);
}

TEST_F(CpuMeterTest, OtherWorkLengthensTimeAndNotCycles) {
  call_.wall_ns = 4000;
  const Sample busy = sample(10);
  EXPECT_DOUBLE_EQ(busy.batch_ns, 40'000);
  EXPECT_DOUBLE_EQ(busy.batch_ns * busy.sm_clock_hz * 1e-9, 26'000);
  EXPECT_DOUBLE_EQ(busy.held_up_ns, 30'000);
}

TEST_F(CpuMeterTest, WhatCannotBeCountedIsUnknown) {
  call_.cycles = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(sample(10).sm_clock_hz));
}

TEST_F(CpuMeterTest, AHostThatDoesOtherWorkIsBusy) {
  EnvironmentProbe probe(*device_);
  probe.saw_batch(100, 2);
  EXPECT_FALSE(probe.warnings().contains(baselines::Warning::kBusyHost));
  probe.saw_batch(100, 5);
  EXPECT_TRUE(probe.warnings().contains(baselines::Warning::kBusyHost));
}

// Whatever this machine allows to be counted.
TEST(HostClock, GoesWithTheWorkOfItsThread) {
  const std::unique_ptr<HostClock> clock = open_host_clock();
  EXPECT_TRUE(clock->cycles() == "cpu_cycles" || clock->cycles() == "cpu_time");
  const auto cycles_of = [&](int turns) {
    const HostReading before = clock->read();
    volatile unsigned sum = 0;  // may wrap
    for (int i = 0; i < turns; ++i) sum = sum + static_cast<unsigned>(i);
    const HostReading after = clock->read();
    EXPECT_LE(after.thread_ns - before.thread_ns, after.wall_ns - before.wall_ns + 1e5);
    return after.cycles - before.cycles;
  };
  cycles_of(1'000'000);
  const double once = cycles_of(2'000'000);
  const double thrice = cycles_of(6'000'000);
  EXPECT_GT(once, 0);
  EXPECT_NEAR(thrice / once, 3, 1.5);
}

}  // namespace
}  // namespace fusegate::bench
