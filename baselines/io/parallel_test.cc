#include "baselines/io/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace fusegate::baselines {
namespace {

TEST(InParallel, CallsEachOnce) {
  std::vector<std::atomic<int>> calls(1000);
  in_parallel(calls.size(), [&](std::size_t i) { ++calls[i]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

TEST(InParallel, OfNothingReturns) {
  in_parallel(0, [](std::size_t) { FAIL(); });
}

TEST(InParallel, ThrowsOnTheExceptionOfTheLowestIndexAfterAllTheRest) {
  std::atomic<int> calls = 0;
  const auto work = [&](std::size_t i) {
    ++calls;
    if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
  };
  EXPECT_THAT([&] { in_parallel(100, work); }, testing::ThrowsMessage<std::runtime_error>("7"));
  EXPECT_EQ(calls, 100);
}

}  // namespace
}  // namespace fusegate::baselines
