#include "baselines/changes/judge_nights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <span>

#include "baselines/changes/test_nights.h"

namespace fusegate::baselines {
namespace {

class Replayed : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OrStored, Replayed, testing::Bool());

TEST_P(Replayed, AStepIsCodeWhereTheIdentityChanged) {
  TestNights year(60, GetParam());
  year.step(3, 40, 0.01);
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].subject, TestNights::name(3));
  EXPECT_EQ(changes[0].benchmarks, std::vector{TestNights::name(3)});
  EXPECT_EQ(changes[0].first_session, "s040");
  EXPECT_EQ(changes[0].last_session_before, "s039");
  EXPECT_EQ(changes[0].alarm_session, "s041");
  EXPECT_EQ(changes[0].of_class, ChangeClass::kCode);
  EXPECT_EQ(changes[0].reason, "identity changed, commit c39..c40");
  EXPECT_NEAR(changes[0].effect, 0.01, 0.0015);
  EXPECT_LT(changes[0].low, std::expm1(0.01));
  EXPECT_GT(changes[0].high, std::expm1(0.01));
}

TEST_P(Replayed, AStepOfTheSameCodeIsUnexplained) {
  TestNights year(60, GetParam());
  year.step(3, 40, 0.01, false);
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].of_class, ChangeClass::kUnexplained);
  EXPECT_EQ(changes[0].reason, "identity is the same, commit c39..c40");
}

TEST_P(Replayed, AStepAndItsRevertAreTwoChanges) {
  TestNights year(80, GetParam());
  year.step(3, 40, 0.01);
  year.step(3, 55, -0.01);
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[1].first_session, "s055");
  EXPECT_LT(changes[1].high, 0);
}

TEST_P(Replayed, OneOddNightIsNoChange) {
  TestNights year(60, GetParam());
  year.step(3, 40, 0.2);
  year.step(3, 41, -0.2);
  EXPECT_TRUE(year.judged().changes.empty());
}

TEST_P(Replayed, AFamilyIsReportedOnce) {
  TestNights year(60, GetParam());
  for (int i = 6; i < 12; ++i) year.step(i, 40, 0.005);
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].subject, "kernel k1");
  EXPECT_EQ(changes[0].benchmarks.size(), 6u);
  EXPECT_EQ(changes[0].first_session, "s040");
  EXPECT_EQ(changes[0].of_class, ChangeClass::kCode);
  EXPECT_NEAR(changes[0].effect, 0.005, 0.0005);
}

TEST_P(Replayed, ADriverIsOneChangeAndHidesNoCode) {
  TestNights year(60, GetParam());
  year.shift(40, 0.02);
  year.set(&Night::driver, 40, std::string("580.2"));
  year.step(3, 40, 0.01);
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].subject, "everything");
  EXPECT_EQ(changes[0].of_class, ChangeClass::kLibrary);
  EXPECT_EQ(changes[0].reason, "driver 570.1 -> 580.2");
  EXPECT_EQ(changes[0].first_session, "s040");
  EXPECT_NEAR(changes[0].effect, 0.0202, 0.001);
  EXPECT_EQ(changes[1].subject, TestNights::name(3));
  EXPECT_EQ(changes[1].of_class, ChangeClass::kCode);
  EXPECT_EQ(changes[1].first_session, "s040");
}

TEST_P(Replayed, ADriverThatComesBackIsAnotherChange) {
  TestNights year(80, GetParam());
  year.shift(30, 0.02);
  year.set(&Night::driver, 30, std::string("580.2"));
  year.shift(50, -0.02);
  year.set(&Night::driver, 50, std::string("570.1"));
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[1].reason, "driver 580.2 -> 570.1");
  EXPECT_NEAR(changes[1].effect, -0.02, 0.001);
}

TEST_P(Replayed, ADriverThatMovesNothingIsNoChange) {
  TestNights year(60, GetParam());
  year.set(&Night::driver, 40, std::string("580.2"));
  EXPECT_TRUE(year.judged().changes.empty());
}

TEST_P(Replayed, AMethodIsOneChange) {
  TestNights year(60, GetParam());
  year.shift(40, -0.01);
  year.set(&Night::method, 40, std::string("other"));
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].of_class, ChangeClass::kMethod);
  EXPECT_EQ(changes[0].reason, "method unknown -> other");
}

TEST_P(Replayed, ANewCardIsNoChange) {
  TestNights year(60, GetParam());
  year.shift(40, 0.01);
  year.set(&Night::card, 40, std::string("GPU-2"));
  EXPECT_TRUE(year.judged().changes.empty());
}

TEST_P(Replayed, ACardThatSlowsDownIsOneChange) {
  TestNights year(60, GetParam());
  year.shift(40, 0.01);
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].subject, "everything");
  EXPECT_EQ(changes[0].of_class, ChangeClass::kCard);
  EXPECT_EQ(changes[0].first_session, "s040");
}

TEST_P(Replayed, OneOfTwoCardsThatSlowsDownIsNamed) {
  TestNights year(90, GetParam());
  for (std::size_t i = 1; i < 90; i += 2) {
    year.nights[i].card = "GPU-2";
    for (NightBenchmark& own : year.nights[i].benchmarks) {
      own.log_equal_clock += i >= 60 ? 0.013 : 0.003;
    }
  }
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].of_class, ChangeClass::kCard);
  EXPECT_EQ(changes[0].first_session, "s061");
  EXPECT_EQ(changes[0].reason,
            "all benchmarks moved together on card GPU-2, and their code is the same");
}

TEST_P(Replayed, LaterNightsLeaveWhatWasReported) {
  TestNights year(70, GetParam());
  for (int i = 6; i < 12; ++i) year.step(i, 30, 0.003);
  year.step(2, 40, 0.002);
  year.shift(50, 0.01);
  year.set(&Night::driver, 50, std::string("580.2"));
  const auto all = year.judged().changes;
  EXPECT_GE(all.size(), 3u);
  std::size_t reported = 0;
  for (std::size_t count = 1; count <= year.nights.size(); ++count) {
    const auto some = judge_nights(std::span(year.nights).first(count), 0).changes;
    ASSERT_LE(some.size(), all.size());
    EXPECT_GE(some.size(), reported);
    reported = some.size();
    for (std::size_t i = 0; i < reported; ++i) {
      EXPECT_EQ(some[i].subject, all[i].subject);
      EXPECT_EQ(some[i].first_session, all[i].first_session);
      EXPECT_EQ(some[i].alarm_session, all[i].alarm_session);
      EXPECT_EQ(some[i].effect, all[i].effect);
      EXPECT_EQ(some[i].reason, all[i].reason);
    }
  }
}

TEST(JudgeNights, AnotherReferenceIsLinked) {
  TestNights year(80);
  year.step(3, 20, 0.01);
  // c30 has the step, so that the figures against it lack it.
  year.set(&Night::replayed, 40, std::string("c30"));
  for (int night = 40; night < 80; ++night) year.at(night, 3).over_replay->value -= 0.01;
  EXPECT_EQ(year.judged().changes.size(), 1u);
  // A change of that very night is seen too.
  year.step(5, 40, 0.01);
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[1].subject, TestNights::name(5));
  EXPECT_EQ(changes[1].first_session, "s040");
}

TEST(JudgeNights, AReferenceThatWasNoNightIsLinkedByStoredFigures) {
  TestNights year(80);
  year.set(&Night::replayed, 40, std::string("elsewhere"));
  for (int night = 40; night < 80; ++night) {
    for (NightBenchmark& own : year.nights[static_cast<std::size_t>(night)].benchmarks) {
      own.over_replay->value += 0.03;
    }
  }
  EXPECT_TRUE(year.judged().changes.empty());
  year.step(5, 40, 0.01);
  const auto changes = year.judged().changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].first_session, "s040");
}

TEST(JudgeNights, ControlsAreNotReported) {
  TestNights year(60);
  for (int night = 0; night < 60; ++night) year.at(night, 3).is_control = true;
  year.step(3, 40, 0.05);
  EXPECT_TRUE(year.judged().changes.empty());
}

TEST(JudgeNights, DevicesAreApart) {
  TestNights year(80);
  for (std::size_t i = 1; i < 80; i += 2) {
    year.nights[i].device = "other";
    for (NightBenchmark& own : year.nights[i].benchmarks) {
      own.log_equal_clock += 1;
      own.over_replay->value += 1;
    }
  }
  EXPECT_TRUE(year.judged().changes.empty());
}

TEST(JudgeNights, WhatIsNotKnownIsPassedOver) {
  EXPECT_TRUE(judge_nights({}, 0).changes.empty());
  TestNights year(60);
  for (int night = 0; night < 60; ++night) {
    year.at(night, 3).over_replay.reset();
    year.at(night, 3).log_equal_clock = kUnknown;
    year.at(night, 4).processes = 0;
    year.at(night, 5).identity.clear();
    year.at(night, 6).process_variance = kUnknown;
    year.at(night, 6).over_replay->variance = kUnknown;
  }
  year.nights[20].benchmarks.clear();
  year.step(5, 40, 0.01, false);
  const Judged judged = year.judged();
  ASSERT_EQ(judged.changes.size(), 1u);
  EXPECT_EQ(judged.changes[0].reason, "identity is not known, commit c39..c40");
  ASSERT_EQ(judged.missing.size(), 1u);
  EXPECT_EQ(judged.missing[0].what, "undecided");
  EXPECT_EQ(judged.missing[0].benchmarks, std::vector{TestNights::name(3)});
}

TEST(JudgeNights, WhateverOthersWroteHasFiniteEffects) {
  TestNights year(80);
  std::mt19937 random(5);
  constexpr double kOdd[] = {1e300, -1e300, 0, 1e-300, INFINITY, -INFINITY, NAN};
  for (Night& night : year.nights) {
    if (random() % 20 == 0) night.unix_s = std::numeric_limits<std::int64_t>::max();
    for (NightBenchmark& own : night.benchmarks) {
      for (double* value : {&own.log_equal_clock, &own.process_variance, &own.ns,
                            &own.over_replay->value, &own.over_replay->variance}) {
        if (random() % 50 == 0) *value = kOdd[random() % std::size(kOdd)];
      }
      if (random() % 50 == 0) own.processes = -3;
      if (random() % 50 == 0) own.name = "twice";
    }
  }
  year.step(3, 40, 0.05);
  const auto changes = judge_nights(year.nights, std::numeric_limits<std::int64_t>::min()).changes;
  EXPECT_FALSE(changes.empty());
  for (const ChangePoint& change : changes) {
    EXPECT_LE(change.low, change.effect);
    EXPECT_GE(change.high, change.effect);
  }
}

}  // namespace
}  // namespace fusegate::baselines
