#include "baselines/calibration/draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "baselines/calibration/test_pool.h"

namespace fusegate::baselines {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CalibrationPool pool_of(const std::vector<std::pair<std::string, int>>& runs) {
  std::mt19937_64 random(1);
  std::vector<fusegate::baselines::Run> simulated;
  for (const auto& [uuid, invocations] : runs) {
    simulated.push_back(simulate({.device_uuid = uuid, .invocations = invocations}, random));
  }
  return pool_runs(std::move(simulated));
}

TEST(DrawSameCard, SidesShareNothing) {
  const CalibrationPool pool = pool_of({{"GPU-1", 12}});
  std::mt19937_64 random(2);
  std::set<std::size_t> drawn_ever;
  for (int i = 0; i < 100; ++i) {
    const auto draw = draw_same_card(pool, 5, random);
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

TEST(DrawSameCard, HalvesASmallCardOnlyWhereNoneIsLarge) {
  std::mt19937_64 random(2);
  const auto small = draw_same_card(pool_of({{"GPU-1", 9}}), 5, random);
  EXPECT_THAT(small->baseline, SizeIs(5));
  EXPECT_THAT(small->candidate, SizeIs(4));
  const CalibrationPool both = pool_of({{"GPU-1", 9}, {"GPU-2", 10}});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(draw_same_card(both, 5, random)->baseline_card, 1u);
}

TEST(DrawSameCard, TakesEveryLargeCard) {
  const CalibrationPool pool = pool_of({{"GPU-1", 10}, {"GPU-2", 10}});
  std::mt19937_64 random(2);
  std::set<std::size_t> cards;
  for (int i = 0; i < 50; ++i) cards.insert(draw_same_card(pool, 5, random)->baseline_card);
  EXPECT_THAT(cards, SizeIs(2));
}

TEST(DrawSameCard, NeedsFourOnEachSide) {
  std::mt19937_64 random(2);
  EXPECT_FALSE(draw_same_card(pool_of({{"GPU-1", 7}, {"GPU-2", 7}}), 5, random));
  EXPECT_TRUE(draw_same_card(pool_of({{"GPU-1", 8}}), 5, random));
}

// Arms of one command, a block a round; the last run has no blocks.
CalibrationPool pool_in_blocks(int arms, int rounds) {
  std::mt19937_64 random(1);
  std::vector<fusegate::baselines::Run> runs;
  for (int arm = 0; arm < arms; ++arm) {
    runs.push_back(simulate({.invocations = rounds}, random));
    runs.back().session = "one command";
    for (BenchmarkSeries& series : runs.back().benchmarks) {
      int block = 0;
      for (InvocationSummary& summary : series.invocations) summary.block = ++block;
    }
  }
  runs.push_back(simulate({.invocations = 3}, random));
  return pool_runs(std::move(runs));
}

TEST(DrawSideBySide, PairsTheInvocationsOfABlock) {
  const CalibrationPool pool = pool_in_blocks(2, 8);
  const auto& summaries = pool.cards.at(0).run.benchmarks.at(0).invocations;
  std::mt19937_64 random(2);
  std::set<std::size_t> baselines;
  for (int i = 0; i < 50; ++i) {
    const auto draw = draw_side_by_side(pool, 5, random);
    ASSERT_TRUE(draw);
    ASSERT_THAT(draw->baseline, SizeIs(5));
    EXPECT_EQ(draw->baseline_session, "one command");
    EXPECT_EQ(draw->candidate_session, "one command");
    std::set<int> blocks;
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_NE(draw->baseline[k], draw->candidate[k]);
      EXPECT_EQ(summaries[draw->baseline[k]].block, summaries[draw->candidate[k]].block);
      blocks.insert(summaries[draw->baseline[k]].block);
      baselines.insert(draw->baseline[k]);
    }
    EXPECT_THAT(blocks, SizeIs(5));
  }
  EXPECT_THAT(baselines, SizeIs(16));  // of either arm
}

TEST(DrawSideBySide, IsNothingWithoutBlocks) {
  std::mt19937_64 random(2);
  EXPECT_FALSE(draw_side_by_side(pool_of({{"GPU-1", 10}}), 5, random));
  EXPECT_FALSE(draw_side_by_side(pool_in_blocks(1, 8), 5, random));
  EXPECT_FALSE(draw_side_by_side(pool_in_blocks(2, 1), 5, random));
  EXPECT_FALSE(draw_side_by_side(pool_in_blocks(2, 3), 5, random));
  EXPECT_THAT(draw_side_by_side(pool_in_blocks(2, 4), 5, random)->baseline, SizeIs(4));
}

TEST(DrawOtherCard, TakesTwoCards) {
  const CalibrationPool pool = pool_of({{"GPU-1", 10}, {"GPU-2", 4}, {"GPU-3", 3}});
  std::mt19937_64 random(2);
  std::set<std::size_t> cards;
  for (int i = 0; i < 50; ++i) {
    const auto draw = draw_other_card(pool, 5, random);
    EXPECT_NE(draw->baseline_card, draw->candidate_card);
    EXPECT_EQ(draw->baseline.size(), draw->baseline_card == 0 ? 5u : 4u);
    cards.insert(draw->baseline_card);
  }
  EXPECT_THAT(cards, ElementsAre(0, 1));
  EXPECT_FALSE(draw_other_card(pool_of({{"GPU-1", 10}}), 5, random));
}

TEST(WholeRuns, AreAllOrderedPairs) {
  const CalibrationPool pool = pool_of({{"GPU-1", 5}, {"GPU-2", 4}, {"GPU-1", 4}, {"GPU-1", 3}});
  const std::vector<Draw> draws = whole_runs(pool);
  ASSERT_THAT(draws, SizeIs(6));  // of the three that have four invocations
  EXPECT_EQ(draws[1].baseline_card, draws[1].candidate_card);
  EXPECT_THAT(draws[1].baseline, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(draws[1].candidate, ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(draws[1].baseline_session, "");
  EXPECT_EQ(whole_runs(pool_in_blocks(2, 4))[0].candidate_session, "one command");
  EXPECT_THAT(whole_runs(pool_of({{"GPU-1", 10}})), IsEmpty());
}

TEST(PossibleDraws, AreCounted) {
  EXPECT_EQ(possible_draws(pool_of({{"GPU-1", 10}}), 5), 252);
  EXPECT_EQ(possible_draws(pool_of({{"GPU-1", 12}}), 5), 792 * 21);
  EXPECT_EQ(possible_draws(pool_of({{"GPU-1", 10}, {"GPU-2", 10}, {"GPU-3", 4}}), 5), 504);
  EXPECT_EQ(possible_draws(pool_of({{"GPU-1", 9}}), 5), 126);
  EXPECT_EQ(possible_draws(pool_of({{"GPU-1", 7}}), 5), 0);
}

TEST(PossibleDraws, AreCountedSideBySide) {
  EXPECT_EQ(possible_side_by_side(pool_in_blocks(2, 5), 5), 32);
  EXPECT_EQ(possible_side_by_side(pool_in_blocks(2, 6), 5), 6 * 32);
  EXPECT_EQ(possible_side_by_side(pool_in_blocks(3, 2), 2), 36);
  EXPECT_EQ(possible_side_by_side(pool_in_blocks(1, 6), 5), 0);
}

}  // namespace
}  // namespace fusegate::baselines
