// Short versions of the audit of nights; with FUSEGATE_FULL_SIMULATIONS as many as
// docs/evidence/change-points.md has. The seeds are fixed.
#include "tests/audit/nights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace fusegate::baselines::audit {
namespace {

int runs_of(int quick, int full) {
  return std::getenv("FUSEGATE_FULL_SIMULATIONS") != nullptr ? full : quick;
}

// Of how many runs the share needs no more nights; 0 where it was not found.
int nights_to_find(const NightScenario& scenario, int runs, double share = 0.5) {
  std::vector<int> nights;
  for (const NightOutcome& own : judge_simulated(scenario, runs)) {
    nights.push_back(own.nights_to_detection > 0 ? own.nights_to_detection : scenario.nights);
  }
  std::ranges::sort(nights);
  return nights[static_cast<std::size_t>(share * (runs - 1))];
}

NightScenario one_steps(NightFigure figure, double step) {
  return {.figure = figure, .nights = 160, .stepping = {100}, .first_night = 120, .step = step};
}

class NightsAudit : public testing::TestWithParam<NightFigure> {};

TEST_P(NightsAudit, QuietNightsRaiseNoAlarm) {
  for (const bool has_heavy_tails : {false, true}) {
    const NightScenario scenario{.figure = GetParam(), .has_heavy_tails = has_heavy_tails};
    const int runs = runs_of(2, 40);
    int alarms = 0;
    for (const NightOutcome& own : judge_simulated(scenario, runs)) alarms += own.false_alarms;
    // Of normal noise one in 100 nights; quick runs may have some more by chance.
    const double share = has_heavy_tails ? 0.016 : 0.01;
    EXPECT_LE(alarms, share * runs * scenario.nights + runs_of(5, 0)) << has_heavy_tails;
  }
}

TEST_P(NightsAudit, TwoPercentAreFoundInTheSecondNight) {
  const int runs = runs_of(5, 40);
  EXPECT_EQ(nights_to_find(one_steps(GetParam(), 0.02), runs, 0.9), 2);
}

TEST_P(NightsAudit, AFamilyShowsWhatOneBenchmarkHides) {
  NightScenario scenario = one_steps(GetParam(), 0.003);
  scenario.stepping = {96, 97, 98, 99, 100, 101};
  const int nights = GetParam() == NightFigure::kNewCards ? 7 : 4;
  EXPECT_LE(nights_to_find(scenario, runs_of(5, 40), 0.9), nights);
  // In one change, of most that step.
  const NightOutcome outcome = judge_simulated(scenario, 1U);
  EXPECT_GE(outcome.named, 4);
}

INSTANTIATE_TEST_SUITE_P(Figures, NightsAudit,
                         testing::Values(NightFigure::kReplay, NightFigure::kKnownCards,
                                         NightFigure::kNewCardsWithFactors,
                                         NightFigure::kNewCards));

TEST(NightsAuditSteps, AreFoundAsSoonAsTheirNoiseAllows) {
  const int runs = runs_of(5, 40);
  for (const double step : {0.003, 0.005, 0.01}) {
    EXPECT_EQ(nights_to_find(one_steps(NightFigure::kReplay, step), runs, 0.9), 2) << step;
    EXPECT_EQ(nights_to_find(one_steps(NightFigure::kKnownCards, step), runs, 0.9), 2) << step;
  }
  EXPECT_LE(nights_to_find(one_steps(NightFigure::kNewCardsWithFactors, 0.005), runs), 5);
  EXPECT_LE(nights_to_find(one_steps(NightFigure::kNewCards, 0.01), runs), 3);
}

TEST(NightsAuditSteps, CreepIsFoundBelowATenthOfAPercentByReplay) {
  const NightScenario creeping{.figure = NightFigure::kReplay,
                               .nights = 160,
                               .stepping = {100},
                               .first_night = 120,
                               .creep = 0.0001};
  EXPECT_LE(nights_to_find(creeping, runs_of(5, 40)), 10);
}

}  // namespace
}  // namespace fusegate::baselines::audit
