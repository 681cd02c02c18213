#include "kernels/cuda/autotuning/launch_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::kernels {
namespace {

using testing::ElementsAre;

std::size_t taken(const std::vector<std::vector<double>>& times) {
  return close_to_fastest(times, kTieMargin).at(0);
}

TEST(LaunchChoice, TakesTheFastest) { EXPECT_EQ(taken({{10}, {9}, {8}, {9.5}}), 2u); }

TEST(LaunchChoice, ARoundIsShortButForLongKernels) {
  EXPECT_EQ(launches_of_a_round(150), 20) << "of 10 us";
  EXPECT_EQ(launches_of_a_round(15), 8) << "of 0.1 ms";
  EXPECT_EQ(launches_of_a_round(4), 4) << "of 0.4 ms";
  EXPECT_EQ(launches_of_a_round(1), 1);
}

TEST(LaunchChoice, TakesTheFirstUnlessAnotherIsFasterByMoreThanATie) {
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

// At half the clock from some round on, or in every other one.
TEST(LaunchChoice, GoesByRoundsThatCandidatesHaveInCommon) {
  EXPECT_EQ(taken({{10.4, 10.4}, {10, 10, 20, 20, 20}, {10.1, 10.1, 20.2, 20.2, 20.2}}), 1u);
  EXPECT_EQ(taken({{20.4, 20.4}, {20, 20, 10, 10, 10}}), 1u);
  // Medians of their own: 14 and 13.9.
  EXPECT_EQ(taken({{10, 20, 14, 12, 16}, {10.3, 20.6, 14.42, 12.36, 13.9}}), 0u);
  EXPECT_NEAR(take({{10.4, 10.4}, {10, 10, 20, 20, 20}}, 0).ahead, 10 / 10.4 - 1, 1e-12);
}

TEST(LaunchChoice, CloseOnesStayInOrder) {
  EXPECT_THAT(close_to_fastest({{12}, {10.5}, {13}, {10}, {10.9}}, kDiscardMargin),
              ElementsAre(1, 3, 4));
  EXPECT_THAT(close_to_fastest({}, kDiscardMargin), ElementsAre());
}

TEST(LaunchChoice, TheFastestStayInOrder) {
  EXPECT_THAT(fastest_indices({{12}, {10.5}, {13, 9, 13}, {10}, {10.9}}, 3), ElementsAre(1, 3, 4));
  EXPECT_THAT(fastest_indices({{10}, {9}}, 2), ElementsAre(0, 1));
  EXPECT_THAT(fastest_indices({{}}, 6), ElementsAre(0)) << "of one alone no time is known";
}

TEST(LaunchChoice, TakesAPinnedChoiceUntilAnotherIsClearlyFaster) {
  const std::vector<std::vector<double>> times{{10.49}, {10}, {10.05}, {10.51}};
  EXPECT_EQ(take(times, std::nullopt).index, 1u);
  EXPECT_EQ(take(times, 0).index, 0u);
  EXPECT_EQ(take(times, 2).index, 2u);
  EXPECT_EQ(take(times, 3).index, 1u);
}

TEST(LaunchChoice, KeepsAPinnedChoiceAfterAFewRoundsWhereItIsClose) {
  const std::vector<std::vector<double>> times{{10.19}, {10}, {10.21}};
  EXPECT_EQ(keep_pinned(times, 0).value().index, 0u);
  EXPECT_NEAR(keep_pinned(times, 0).value().ahead, 10 / 10.19 - 1, 1e-12);
  EXPECT_EQ(keep_pinned(times, 1).value().index, 1u);
  EXPECT_FALSE(keep_pinned(times, 2)) << "is timed further";
  EXPECT_FALSE(keep_pinned(times, std::nullopt));
}

TEST(LaunchChoice, MeasuresHowFarTheNextOneIs) {
  EXPECT_NEAR(take({{10.4}, {10}, {11}}, std::nullopt).ahead, 0.04, 1e-12);
  EXPECT_NEAR(take({{10.4}, {10}, {11}}, 0).ahead, 10 / 10.4 - 1, 1e-12)
      << "pinned, not the fastest";
  EXPECT_NEAR(take({{10.04}, {10}}, std::nullopt).ahead, 10 / 10.04 - 1, 1e-12) << "a tie";
  EXPECT_TRUE(std::isnan(take({{10}}, std::nullopt).ahead));
}

TEST(LaunchChoice, NameIsReadFromTheChoice) {
  EXPECT_EQ(choice_text("tuned", 2, 8, "algo 66, tile 18"),
            "tuned: candidate 3 of 8, algo 66, tile 18");
  EXPECT_EQ(chosen_name(choice_text("tuned", 2, 8, "algo 66, tile 18")), "algo 66, tile 18");
  EXPECT_EQ(chosen_name(choice_text("measured", 0, 12, "gemv: 192 blocks of 6 warps, 4 columns")),
            "gemv: 192 blocks of 6 warps, 4 columns");
  EXPECT_EQ(chosen_name("algo 66, tile 18"), "algo 66, tile 18");
  EXPECT_EQ(chosen_name(""), "");
}

TEST(LaunchChoice, ARequiredPinnedChoiceIsTakenWithoutMeasuringOrIsAnError) {
  const std::vector<std::string> names{"a", "b", "c"};
  PinnedChoices pinned{.choices = {{"down_proj", "tuned: candidate 7 of 9, b"}}};
  EXPECT_EQ(index_of_pinned(pinned, "down_proj", names), 1u);
  EXPECT_EQ(require_pinned(pinned, "down_proj", names), std::nullopt) << "measuring decides";
  pinned.required = true;
  EXPECT_EQ(require_pinned(pinned, "down_proj", names), 1u);
  EXPECT_EQ(require_pinned(pinned, "gate_up", names), std::nullopt) << "none is pinned";
  EXPECT_EQ(require_pinned(pinned, "gate_up", {"a"}), 0u) << "nothing is to be measured";
  EXPECT_THAT(
      [&] {
        require_pinned(pinned, "down_proj", {"a", "c"});
      },
      testing::ThrowsMessage<DeviceError>(
          "down_proj: pinned choice \"b\" is not among the 2 candidates"));
}

TEST(LaunchChoice, ANoteSaysWhyItWasTaken) {
  PinnedChoices pinned{.choices = {{"down_proj", "tuned: candidate 7 of 9, b"}}};
  const auto why = [&](const std::string& name, double ahead) {
    return why_taken(pinned, "down_proj", "tuned: candidate 2 of 8, " + name, ahead);
  };
  EXPECT_EQ(why_taken({}, "down_proj", "b", 0.021), "measured; the next is 2.1 % slower");
  EXPECT_EQ(why("b", -0.004), "measured; the fastest is 0.4 % faster; pinned");
  EXPECT_EQ(why("a", 0.3), "measured; the next is over 10 % slower; the pinned choice was b");
  EXPECT_EQ(why("a", std::nan("")), "measured; the pinned choice was b");
  pinned.required = true;
  EXPECT_EQ(why("b", std::nan("")), "pinned, not measured");
}

}  // namespace
}  // namespace fusegate::kernels
