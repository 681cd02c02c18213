#include "baselines/comparing/card_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/comparing/judge.h"
#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kOneAndOne = 2;  // cards: a card's variance counts twice

Run on_card(const std::string& uuid, double factor) {
  Run run = test_run({test_series("a", scaled(kQuiet, factor))});
  run.provenance.device_uuid = uuid;
  return run;
}

std::optional<CardDifferences> read(const std::string& between_card) {
  const ScratchFolder folder;
  const std::string text = R"({"fusegate_calibration": 1, "between_card": )" + between_card + "}";
  return read_card_differences(folder.write("pr.calibration.json", text));
}

// How far a calibration of so many cards says that they differ.
CardDifferences calibrated(double spread, int cards) {
  return {.calibration = "pr.calibration.json",
          .cards = cards,
          .degrees_of_freedom = cards - 1.0,
          .classes = {{.time = spread, .cycles = spread, .equal_clock = spread}}};
}

TEST(CardDifferences, OfAnUnknownDeviceAreAssumedToBeWide) {
  const CardDifferences unknown;
  EXPECT_EQ(unknown.calibration, "");
  for (const Quantity quantity : {Quantity::kTime, Quantity::kCycles, Quantity::kEqualClock}) {
    const VarianceEstimate variance = unknown.variance(quantity, 1e4, 1, 1);
    EXPECT_NEAR(std::sqrt(variance.variance / kOneAndOne), kAssumedCardSpread, 1e-9);
    EXPECT_EQ(variance.degrees_of_freedom, 2);
  }
}

TEST(CardDifferences, AreReadFromACalibrationByDuration) {
  const auto known = read(R"({
      "cards": 6, "benchmarks": 104, "time": 0.008, "cycles": 0.003, "equal_clock": 0.002,
      "classes": {"from_20_us": {"from_ns": 20000, "time": 0.01, "cycles": 0.004,
                                 "equal_clock": 0.003},
                  "below_3_us": {"from_ns": 0, "time": 0.001, "cycles": null,
                                 "equal_clock": 0.0015}}})");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->cards, 6);
  EXPECT_EQ(known->degrees_of_freedom, 5);
  const auto spread = [&](Quantity quantity, double time_ns) {
    return std::sqrt(known->variance(quantity, time_ns, 1, 1).variance / kOneAndOne);
  };
  EXPECT_NEAR(spread(Quantity::kTime, 20000), 0.01, 1e-9);
  EXPECT_NEAR(spread(Quantity::kEqualClock, 1e6), 0.003, 1e-9);
  EXPECT_NEAR(spread(Quantity::kTime, 19999), 0.001, 1e-9);
  // The class has no cycles: as all benchmarks have.
  EXPECT_NEAR(spread(Quantity::kCycles, 1), 0.003, 1e-9);
  EXPECT_NEAR(known->variance(Quantity::kTime, 1e6, 5, 1).variance, 1e-4 * (1 + 0.2), 1e-12);
}

TEST(CardDifferences, AreNotKnownFromOneCardOrAnOlderCalibration) {
  EXPECT_FALSE(read("null"));
  EXPECT_FALSE(read(R"({"cards": 2, "time": 0, "cycles": 0,
      "equal_clock": 0, "classes": {"from_20_us": {"time": 0.01}}})"));
}

TEST(CardDifferences, NameFileAndFieldOfWhatIsWrong) {
  const auto fails_with = [](const std::string& between_card, const std::string& field) {
    EXPECT_THAT([&] { read(between_card); },
                ThrowsMessage<InputError>(
                    AllOf(HasSubstr("pr.calibration.json"), HasSubstr("between_card." + field))));
  };
  fails_with(R"({"cards": 2, "time": 0, "cycles": 0, "equal_clock": 0,
      "classes": {"all": {"from_ns": 0, "time": -1}}})",
             "classes.all.time");
  fails_with(R"({"cards": 1, "classes": {}})", "cards");
}

TEST(Judge, WhatIsARegressionOnOneCardMayBeAnotherCard) {
  const auto verdict = [](const char* baseline, const char* candidate, double factor,
                          const Rule& rule = {}) {
    return judge(on_card(baseline, 1), on_card(candidate, factor), rule)[0];
  };
  EXPECT_EQ(verdict("one", "one", 1.08).kind, VerdictKind::kRegression);
  EXPECT_EQ(verdict("one", "two", 1.08).kind, VerdictKind::kInconclusive);
  EXPECT_EQ(verdict("one", "two", 1.08).reason.obstacle, Obstacle::kCardsDiffer);
  EXPECT_EQ(verdict("one", "two", 2).kind, VerdictKind::kRegression);
  EXPECT_EQ(verdict("one", "two", 1.08, {.cards = calibrated(0.001, 6)}).kind,
            VerdictKind::kRegression);
  EXPECT_EQ(verdict("", "two", 1.08).kind, VerdictKind::kRegression)
      << "no card named: as if it were the same";
}

const std::vector<std::string> kFiveCards{"1", "2", "3", "4", "5"};
// Of five cards that are alike.
const std::vector<double> kNarrow{0.9999, 1, 1.0001, 1.00005, 0.99995};

// A run of so many processes a card, whose cards stand at the given factors.
Run on_cards(const std::vector<std::string>& cards, const std::vector<double>& factors,
             int rows = 12) {
  std::vector<BenchmarkSeries> suite;
  for (int row = 0; row < rows; ++row) {
    BenchmarkSeries series = test_series(std::string(1, static_cast<char>('a' + row)), {});
    for (std::size_t card = 0; card < cards.size(); ++card) {
      // Rows scatter a little from card to card, each in its own way.
      const double own =
          1 + 1e-4 * static_cast<double>((row * 7 + static_cast<int>(card) * 5) % 11);
      for (ProcessSummary summary :
           test_series("", scaled(kQuiet, factors[card] * own)).processes) {
        summary.card = static_cast<int>(card);
        series.processes.push_back(summary);
      }
    }
    suite.push_back(std::move(series));
  }
  Run run = test_run(std::move(suite));
  run.cards = cards;
  run.provenance.device_uuid = cards.front();
  return run;
}

void slow_down(BenchmarkSeries& series, double factor) {
  for (ProcessSummary& summary : series.processes) {
    summary.time_ns *= factor;
    summary.cycles *= factor;
  }
}

// A card whose rows scatter by 2 % where those of five others agree within 0.1 %.
TEST(Judge, ACardOfAnotherKindIsTakenAsSuch) {
  const auto baseline = on_cards(kFiveCards, kNarrow, 20);
  auto candidate = on_cards({"6"}, {1}, 20);
  slow_down(candidate.benchmarks[0], 1.03);
  EXPECT_EQ(judge(baseline, candidate, {})[0].kind, VerdictKind::kRegression);
  for (std::size_t row = 1; row < candidate.benchmarks.size(); ++row) {
    slow_down(candidate.benchmarks[row], row % 2 == 0 ? 1.02 : 0.98);
  }
  const Verdict verdict = judge(baseline, candidate, {})[0];
  EXPECT_EQ(verdict.kind, VerdictKind::kInconclusive);
  EXPECT_EQ(verdict.reason.obstacle, Obstacle::kCardsDiffer);
}

Verdict first_verdict(const Run& baseline, const Run& candidate) {
  return judge(baseline, candidate, {.min_effect = 0.004}).front();
}

TEST(Judge, SeveralCardsShowWhatANewOneMayBe) {
  const auto wide = on_cards(kFiveCards, {0.99, 1, 1.01, 1.005, 0.995});
  const auto narrow = on_cards(kFiveCards, kNarrow);
  const auto candidate = on_cards({"6"}, {1.02});
  EXPECT_EQ(first_verdict(wide, candidate).kind, VerdictKind::kInconclusive);
  EXPECT_EQ(first_verdict(wide, candidate).reason.obstacle, Obstacle::kCardsDiffer);
  EXPECT_EQ(first_verdict(narrow, candidate).kind, VerdictKind::kRegression);
  EXPECT_EQ(first_verdict(narrow, on_cards({"6"}, {1})).kind, VerdictKind::kUnchanged);
}

TEST(Judge, ACalibrationMayKnowOfCardsThatDifferMore) {
  const auto kind = [](double spread) {
    return judge(on_cards(kFiveCards, kNarrow), on_cards({"6"}, {1.02}),
                 {.cards = calibrated(spread, 6)})
        .front()
        .kind;
  };
  EXPECT_EQ(kind(0.0001), VerdictKind::kRegression);
  EXPECT_EQ(kind(0.01), VerdictKind::kInconclusive);
}

TEST(Judge, ACardOfTheBaselineIsHeldAgainstItself) {
  const auto baseline = on_cards({"1", "2", "3"}, {0.98, 1, 1.02});
  EXPECT_EQ(first_verdict(baseline, on_cards({"3"}, {1.02})).kind, VerdictKind::kUnchanged);
  auto candidate = on_cards({"1"}, {0.98});
  slow_down(candidate.benchmarks[0], 0.99 / 0.98);
  const Verdict slower = first_verdict(baseline, candidate);
  EXPECT_EQ(slower.kind, VerdictKind::kRegression);
  EXPECT_NEAR(slower.estimates.effect, 0.99 / 0.98 - 1, 1e-6);
}

TEST(Judge, ACardOfOneProcessIsNoEvidence) {
  auto baseline = on_cards({"1", "2"}, {1, 1});
  for (BenchmarkSeries& series : baseline.benchmarks) series.processes.resize(6);
  EXPECT_EQ(first_verdict(baseline, on_cards({"2"}, {1.05})).reason.obstacle,
            Obstacle::kSingleBaseline);
}

}  // namespace
}  // namespace fusegate::baselines
