#include "ci/report/calibration_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/calibration/calibrate.h"
#include "baselines/calibration/test_pool.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::vector<baselines::Run>& runs, int comparisons = 50) {
  return terminal_text(calibration_document(
      baselines::calibrate(baselines::pool_runs(runs), {.comparisons = comparisons})));
}

TEST(CalibrationDocument, HasEveryPartOfOneCard) {
  std::mt19937_64 random(1);
  const std::string text = text_of({baselines::simulate({.spread = 0.0005}, random)});
  EXPECT_THAT(text, AllOf(HasSubstr("Suite pr: 10 processes on 1 card, 3 benchmarks."),
                          HasSubstr("Environment: device NVIDIA H200."),
                          HasSubstr("Spread between processes of a card"),
                          HasSubstr("0 of 3 benchmarks spread by more"),
                          HasSubstr("Smallest detectable effect"),
                          HasSubstr("by 5 processes against 5 of the same card"),
                          HasSubstr("of 50 random comparisons, which share the 10 processes")));
  EXPECT_THAT(text, Not(HasSubstr("Between cards")));
  EXPECT_THAT(text, Not(HasSubstr("commits")));
}

TEST(CalibrationDocument, NamesCardsAndCommits) {
  std::mt19937_64 random(1);
  fusegate::baselines::Run first = baselines::simulate({}, random);
  fusegate::baselines::Run second = baselines::simulate({.device_uuid = "GPU-2"}, random);
  first.provenance.commit = "0123456789abcdef";
  second.provenance.commit = "fedcba9876543210";
  second.provenance.dirty = true;
  second.warnings = {baselines::Warning::kThrottled};
  const std::string text = text_of({first, second});
  EXPECT_THAT(text, AllOf(HasSubstr("The runs are of 2 commits"), HasSubstr("fedcba987654 (dirty)"),
                          HasSubstr("Between cards"), HasSubstr("between 0.45 and 32 times"),
                          HasSubstr("slowdown during")));
}

TEST(CalibrationDocument, ListsWhatSpreadsBeyondItsTarget) {
  std::mt19937_64 random(1);
  const std::string text = text_of(
      {baselines::simulate({.spread = 0.02, .times_ns = std::vector<double>(12, 50'000)}, random)},
      4);
  EXPECT_THAT(text, HasSubstr("12 of 12 benchmarks spread by more than their class's target; the "
                              "first of them:"));
}

TEST(CalibrationDocument, SaysWhereNothingCanBeDrawn) {
  std::mt19937_64 random(1);
  const std::string text = text_of({baselines::simulate({.processes = 3}, random)});
  EXPECT_THAT(text, HasSubstr("no card has 8 processes"));
  EXPECT_THAT(text, Not(HasSubstr("False alarms")));
}

TEST(FormatSpread, IsFineEnoughForTheTargets) {
  EXPECT_EQ(format_spread(0.00123456), "0.123 %");
  EXPECT_EQ(format_spread(std::nan("")), "-");
}

}  // namespace
}  // namespace fusegate::ci
