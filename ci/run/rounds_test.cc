#include "ci/run/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace fusegate::ci {
namespace {

std::vector<int> slots_of(const std::vector<PlannedProcess>& round) {
  std::vector<int> slots;
  for (const auto& planned : round) slots.push_back(planned.slot);
  return slots;
}

TEST(Schedule, MirrorsEverySecondRound) {
  for (const int slots : {1, 2, 3}) {
    Schedule schedule(slots, 7);
    for (int pair = 0; pair < 20; ++pair) {
      const std::vector<int> first = slots_of(schedule.next_round());
      std::vector<int> second = slots_of(schedule.next_round());
      std::ranges::reverse(second);
      EXPECT_EQ(first, second);
      EXPECT_EQ(std::set<int>(first.begin(), first.end()).size(), static_cast<std::size_t>(slots));
    }
  }
}

TEST(Schedule, DrawsEveryOrderAboutAsOften) {
  Schedule schedule(3, 1);
  std::map<std::vector<int>, int> seen;
  for (int pair = 0; pair < 6000; ++pair) {
    ++seen[slots_of(schedule.next_round())];
    schedule.next_round();
  }
  ASSERT_EQ(seen.size(), 6u);
  // 1000 of each are expected, with a standard deviation of 29.
  for (const auto& [order, times] : seen) EXPECT_NEAR(times, 1000, 150);
}

TEST(Schedule, DrawsSeedsThatDifferAndFitIn31Bits) {
  std::set<std::uint64_t> seeds;
  Schedule schedule(2, 7);
  for (int round = 0; round < 500; ++round) {
    for (const auto& planned : schedule.next_round()) {
      EXPECT_LT(planned.seed, std::uint64_t{1} << 31);
      seeds.insert(planned.seed);
    }
  }
  EXPECT_EQ(seeds.size(), 1000u);
}

TEST(Schedule, IsTheSameForTheSameSeedAlone) {
  EXPECT_EQ(Schedule(2, 7).next_round()[1].seed, Schedule(2, 7).next_round()[1].seed);
  EXPECT_NE(Schedule(2, 7).next_round()[1].seed, Schedule(2, 8).next_round()[1].seed);
}

}  // namespace
}  // namespace fusegate::ci
