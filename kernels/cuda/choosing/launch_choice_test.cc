#include "kernels/cuda/choosing/launch_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::kernels {
namespace {

using testing::ElementsAre;

std::size_t taken(const std::vector<std::vector<double>>& times) {
  return close_to_fastest(times, kTie).at(0);
}

TEST(LaunchChoice, TakesTheFastest) { EXPECT_EQ(taken({{10}, {9}, {8}, {9.5}}), 2u); }

TEST(LaunchChoice, ARoundIsShortButForLongKernels) {
  EXPECT_EQ(launches_of_a_round(150), 20) << "of 10 us";
  EXPECT_EQ(launches_of_a_round(15), 8) << "of 0.1 ms";
  EXPECT_EQ(launches_of_a_round(4), 4) << "of 0.4 ms";
  EXPECT_EQ(launches_of_a_round(1), 1);
}

TEST(LaunchChoice, KeepsTheFirstUnlessAnotherIsFasterByMoreThanATie) {
  EXPECT_EQ(taken({{10.04}, {10}}), 0u);
  EXPECT_EQ(taken({{10.06}, {10}}), 1u);
}

TEST(LaunchChoice, TakesTheSameOfEqualsWhicheverNoisePutsAhead) {
  EXPECT_EQ(taken({{10}, {9.01}, {9}, {8.99}}), 1u);
  EXPECT_EQ(taken({{10}, {8.99}, {9}, {9.01}}), 1u);
}

TEST(LaunchChoice, GoesByMediansAndNotByTheLuckiestRound) {
  EXPECT_EQ(taken({{10, 10, 10}, {11, 11, 2}}), 0u);
  EXPECT_EQ(taken({{10, 10, 10}, {9, 9, 200}}), 1u);
}

TEST(LaunchChoice, KeepsOrderWhereItSortsOutTheHopeless) {
  EXPECT_THAT(close_to_fastest({{12}, {10.5}, {13}, {10}, {10.9}}, kHopeless),
              ElementsAre(1, 3, 4));
  EXPECT_THAT(close_to_fastest({}, kHopeless), ElementsAre());
}

TEST(LaunchChoice, TheFastestFewKeepTheirOrder) {
  EXPECT_THAT(fastest_places({{12}, {10.5}, {13, 9, 13}, {10}, {10.9}}, 3), ElementsAre(1, 3, 4));
  EXPECT_THAT(fastest_places({{10}, {9}}, 2), ElementsAre(0, 1));
  EXPECT_THAT(fastest_places({{}}, 6), ElementsAre(0)) << "of one alone no time is known";
}

TEST(LaunchChoice, KeepsWhatWasTakenBeforeUntilAnotherIsClearlyFaster) {
  const std::vector<std::vector<double>> times{{10.49}, {10}, {10.05}, {10.51}};
  EXPECT_EQ(take(times, std::nullopt).place, 1u);
  EXPECT_EQ(take(times, 0).place, 0u);
  EXPECT_EQ(take(times, 2).place, 2u);
  EXPECT_EQ(take(times, 3).place, 1u);
}

TEST(LaunchChoice, TellsHowFarTheNextOneIs) {
  EXPECT_NEAR(take({{10.4}, {10}, {11}}, std::nullopt).ahead, 0.04, 1e-12);
  EXPECT_NEAR(take({{10.4}, {10}, {11}}, 0).ahead, 10 / 10.4 - 1, 1e-12) << "kept, not the fastest";
  EXPECT_NEAR(take({{10.04}, {10}}, std::nullopt).ahead, 10 / 10.04 - 1, 1e-12) << "a tie";
  EXPECT_TRUE(std::isnan(take({{10}}, std::nullopt).ahead));
}

TEST(LaunchChoice, IsReadFromTheTextThatTellsIt) {
  EXPECT_EQ(choice_text("tuned", 2, 8, "algo 66, tile 18"),
            "tuned: candidate 3 of 8, algo 66, tile 18");
  EXPECT_EQ(chosen_name(choice_text("tuned", 2, 8, "algo 66, tile 18")), "algo 66, tile 18");
  EXPECT_EQ(chosen_name(choice_text("measured", 0, 12, "gemv: 192 blocks of 6 warps, 4 columns")),
            "gemv: 192 blocks of 6 warps, 4 columns");
  EXPECT_EQ(chosen_name("algo 66, tile 18"), "algo 66, tile 18");
  EXPECT_EQ(chosen_name(""), "");
}

TEST(LaunchChoice, WhatIsStrictlyKeptIsTakenWithoutMeasuringOrIsAnError) {
  const std::vector<std::string> names{"a", "b", "c"};
  KeptChoices kept{.choices = {{"down_proj", "tuned: candidate 7 of 9, b"}}};
  EXPECT_EQ(place_kept(kept, "down_proj", names), 1u);
  EXPECT_EQ(place_taken_strictly(kept, "down_proj", names), std::nullopt) << "a contest decides";
  kept.strictly = true;
  EXPECT_EQ(place_taken_strictly(kept, "down_proj", names), 1u);
  EXPECT_EQ(place_taken_strictly(kept, "gate_up", names), std::nullopt) << "nothing is known of it";
  try {
    place_taken_strictly(kept, "down_proj", {"a", "c"});
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "down_proj: \"b\", which is strictly kept, is none of the 2 candidates");
  }
}

TEST(LaunchChoice, ANoteSaysWhyItWasTaken) {
  KeptChoices kept{.choices = {{"down_proj", "tuned: candidate 7 of 9, b"}}};
  const auto why = [&](const std::string& name, double ahead) {
    return why_taken(kept, "down_proj", "tuned: candidate 2 of 8, " + name, ahead);
  };
  EXPECT_EQ(why_taken({}, "down_proj", "b", 0.021), "measured, 2.1 % ahead of the next");
  EXPECT_EQ(why("b", -0.004), "measured, 0.4 % behind the fastest, and kept");
  EXPECT_EQ(why("a", 0.3), "measured, over 10 % ahead of the next, in place of b");
  EXPECT_EQ(why("a", std::nan("")), "measured, in place of b");
  kept.strictly = true;
  EXPECT_EQ(why("b", std::nan("")), "kept without measuring");
}

}  // namespace
}  // namespace fusegate::kernels
