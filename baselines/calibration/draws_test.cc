#include "baselines/calibration/draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "baselines/calibration/test_pool.h"

namespace fusegate::baselines {
namespace {

using ::testing::SizeIs;

CalibrationPool pool_of(const std::vector<std::pair<std::string, int>>& runs) {
  std::mt19937_64 random(1);
  std::vector<fusegate::baselines::Run> simulated;
  for (const auto& [uuid, processes] : runs) {
    simulated.push_back(simulate({.device_uuid = uuid, .processes = processes}, random));
  }
  return pool_runs(std::move(simulated));
}

TEST(DrawComparison, SharesNoProcess) {
  const CalibrationPool pool = pool_of({{"GPU-1", 12}});
  std::mt19937_64 random(2);
  std::set<std::size_t> drawn_ever;
  for (int i = 0; i < 100; ++i) {
    const auto draw = draw_comparison(pool, 5, random);
    ASSERT_TRUE(draw);
    ASSERT_THAT(draw->baseline, SizeIs(5));
    ASSERT_THAT(draw->candidate, SizeIs(5));
    std::set<std::size_t> both(draw->baseline.begin(), draw->baseline.end());
    both.insert(draw->candidate.begin(), draw->candidate.end());
    EXPECT_THAT(both, SizeIs(10));
    EXPECT_LT(*both.rbegin(), 12u);
    drawn_ever.insert(both.begin(), both.end());
  }
  EXPECT_THAT(drawn_ever, SizeIs(12));
}

TEST(DrawComparison, HalvesASmallCardOnlyWhereNoneIsLarge) {
  std::mt19937_64 random(2);
  const auto small = draw_comparison(pool_of({{"GPU-1", 9}}), 5, random);
  EXPECT_THAT(small->baseline, SizeIs(5));
  EXPECT_THAT(small->candidate, SizeIs(4));
  const CalibrationPool both = pool_of({{"GPU-1", 9}, {"GPU-2", 10}});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(draw_comparison(both, 5, random)->card, 1u);
}

TEST(DrawComparison, TakesEveryLargeCard) {
  const CalibrationPool pool = pool_of({{"GPU-1", 10}, {"GPU-2", 10}});
  std::mt19937_64 random(2);
  std::set<std::size_t> cards;
  for (int i = 0; i < 50; ++i) cards.insert(draw_comparison(pool, 5, random)->card);
  EXPECT_THAT(cards, SizeIs(2));
}

TEST(DrawComparison, NeedsFourOnEachSide) {
  std::mt19937_64 random(2);
  EXPECT_FALSE(draw_comparison(pool_of({{"GPU-1", 7}, {"GPU-2", 7}}), 5, random));
  EXPECT_TRUE(draw_comparison(pool_of({{"GPU-1", 8}}), 5, random));
}

}  // namespace
}  // namespace fusegate::baselines
