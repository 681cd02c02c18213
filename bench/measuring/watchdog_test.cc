#include "bench/measuring/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace fusegate::bench {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, NamesWhatDoesNotEndAndHoldsItThere) {
  std::promise<std::size_t> found;
  std::atomic<bool> is_written = false;
  Watchdog watchdog(50ms, [&](const Watchdog::Stuck& stuck) {
    EXPECT_FALSE(stuck.is_after_signal);
    found.set_value(stuck.benchmark);
    std::this_thread::sleep_for(50ms);
    is_written = true;
  });
  {
    const Watchdog::Piece piece(watchdog, 7);
    std::future<std::size_t> stuck = found.get_future();
    ASSERT_EQ(stuck.wait_for(20s), std::future_status::ready);
    EXPECT_EQ(stuck.get(), 7u);
  }
  EXPECT_TRUE(is_written) << "what was stuck came no further meanwhile";
}

TEST(Watchdog, LeavesAloneWhatEndsInTimeAndTheTimeBetween) {
  std::atomic<int> found = 0;
  {
    Watchdog watchdog(1s, [&](const Watchdog::Stuck&) { ++found; });
    for (std::size_t i = 0; i < 5; ++i) {
      const Watchdog::Piece piece(watchdog, i);
      std::this_thread::sleep_for(250ms);
    }
    std::this_thread::sleep_for(1200ms);
  }
  EXPECT_EQ(found, 0);
}

TEST(Watchdog, AddsUpWhatABenchmarkTook) {
  Watchdog watchdog(kNoTimeout, [](const Watchdog::Stuck&) {});
  const auto begin = std::chrono::steady_clock::now();
  for (const std::size_t benchmark : {1, 2, 1}) {
    const Watchdog::Piece piece(watchdog, benchmark);
    std::this_thread::sleep_for(benchmark * 20ms);
  }
  const auto whole = std::chrono::steady_clock::now() - begin;
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(watchdog.spent_on(0), 0ms);
  for (const std::size_t benchmark : {1, 2}) EXPECT_GE(watchdog.spent_on(benchmark), 40ms);
  EXPECT_LE(watchdog.spent_on(1) + watchdog.spent_on(2), whole) << "the time between counts";
}

}  // namespace
}  // namespace fusegate::bench
