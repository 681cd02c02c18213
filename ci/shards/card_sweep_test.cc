#include "ci/shards/card_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<Card> kTwoCards{{.label = "0", .uuid = "GPU-a"}, {.label = "1", .uuid = "GPU-b"}};

class CardSweepTest : public ::testing::Test {
 protected:
  CardSweep sweep(int shards, const MeasureOnCard& measure) {
    Console console{out_, err_};
    return sweep_cards(
        kTwoCards, shards,
        [&](int shard, const Card& card, Console& of_card) {
          const CardOutcome outcome = measure(shard, card, of_card);
          const std::lock_guard lock(mutex_);
          if (outcome.failure.empty() && !outcome.interrupted) measured_[shard] = card.label;
          return outcome;
        },
        console);
  }
  std::ptrdiff_t count_of(const std::string& label) const {
    return std::ranges::count_if(measured_,
                                 [&](const auto& entry) { return entry.second == label; });
  }
  static void take(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }

  std::ostringstream out_, err_;
  std::mutex mutex_;
  std::map<int, std::string> measured_;  // the card of each shard
};

TEST_F(CardSweepTest, AFasterCardTakesMore) {
  const CardSweep swept = sweep(12, [](int, const Card& card, Console&) {
    take(card.label == "0" ? 10 : 100);
    return CardOutcome{};
  });
  EXPECT_THAT(swept.left, IsEmpty());
  EXPECT_EQ(measured_.size(), 12u);
  EXPECT_GE(count_of("0"), 8);
  EXPECT_GE(count_of("1"), 1);
}

TEST_F(CardSweepTest, WhatACardFailsOnGoesToAnother) {
  const CardSweep swept = sweep(4, [](int, const Card& card, Console&) -> CardOutcome {
    take(card.label == "0" ? 100 : 5);
    if (card.label == "1") throw std::runtime_error("fell off the bus");
    return {};
  });
  EXPECT_FALSE(swept.interrupted);
  EXPECT_THAT(swept.left, IsEmpty());
  EXPECT_EQ(count_of("0"), 4);
  EXPECT_EQ(swept.failures.size(), 1u) << "it takes no other shard";
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("GPU 1 is taken out, and shard "),
                                HasSubstr(" waits for another card: fell off the bus\n")));
}

TEST_F(CardSweepTest, TheLastShardIsWaitedForByAnIdleCard) {
  const CardSweep swept = sweep(2, [](int shard, const Card&, Console&) -> CardOutcome {
    static std::atomic<int> tries = 0;
    if (shard == 1 || tries++ > 0) return {};
    take(100);
    return {.failure = "died"};
  });
  EXPECT_THAT(swept.left, IsEmpty());
  EXPECT_EQ(swept.failures.size(), 1u);
}

TEST_F(CardSweepTest, AShardThatFailsOnTwoCardsIsGivenUp) {
  const CardSweep swept = sweep(6, [](int shard, const Card&, Console&) -> CardOutcome {
    take(5);
    return {.failure = shard == 2 ? "crashed" : ""};
  });
  EXPECT_THAT(swept.left, ElementsAre(2));
  EXPECT_EQ(measured_.size(), 5u) << "the second card goes on";
  EXPECT_EQ(swept.failures.size(), 2u);
  EXPECT_THAT(err_.str(), HasSubstr("shard 2 failed on a second card"));
}

TEST_F(CardSweepTest, NoCardIsLeft) {
  const CardSweep swept =
      sweep(5, [](int, const Card&, Console&) { return CardOutcome{.failure = "no driver"}; });
  EXPECT_EQ(swept.left.size(), 5u);
  EXPECT_LE(swept.failures.size(), 3u) << "the second may try the first one's shard";
}

TEST_F(CardSweepTest, NothingStartsOnceInterrupted) {
  const CardSweep swept = sweep(8, [](int shard, const Card&, Console&) {
    take(shard == 1 ? 5 : 50);
    return CardOutcome{.interrupted = shard == 1};
  });
  EXPECT_TRUE(swept.interrupted);
  EXPECT_THAT(swept.left, ElementsAre(1, 3, 4, 5, 6, 7, 8));
}

}  // namespace
}  // namespace fusegate::ci
