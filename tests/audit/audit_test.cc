// Short versions of all scenarios of the audit; docs/evidence/verdict-audit.md has the long ones.
// The seeds are fixed.
#include <gtest/gtest.h>

#include <map>

#include "tests/audit/simulation.h"

namespace fusegate::baselines::audit {
namespace {

constexpr int kSuites = 20;

const std::map<std::string, std::vector<std::pair<Scenario, Outcome>>>& outcomes() {
  static const auto all = [] {
    std::map<std::string, std::vector<std::pair<Scenario, Outcome>>> groups;
    for (const Scenario& scenario : scenarios(benchmarks_of(FUSEGATE_CALIBRATION))) {
      const int suites = scenario.benchmarks.size() > 1000 ? 1 : kSuites;
      groups[scenario.group].emplace_back(scenario, simulate(scenario, suites));
    }
    return groups;
  }();
  return all;
}

// In a hundred suites one may have one; of all short versions together.
TEST(GateAudit, NothingIsBlamedThatIsNotSlower) {
  int suites = 0, alarms = 0;
  for (const auto& [group, scenarios] : outcomes()) {
    for (const auto& [scenario, outcome] : scenarios) {
      suites += outcome.suites;
      alarms += outcome.with_false_regression;
      EXPECT_LE(outcome.with_false_regression, 1) << group << ": " << scenario.name;
    }
  }
  EXPECT_GT(suites, 900);
  EXPECT_LE(alarms, suites / 100);
}

TEST(GateAudit, NoRegressionPasses) {
  for (const auto& [scenario, outcome] : outcomes().at("Regressions that must not pass")) {
    EXPECT_EQ(outcome.exits[0], 0) << scenario.name;
  }
}

TEST(GateAudit, LargeRegressionsFail) {
  for (const auto& [scenario, outcome] : outcomes().at("Regressions that must not pass")) {
    if (scenario.slowdown < 0.05 || scenario.slow_process_share < 1) continue;
    EXPECT_EQ(outcome.exits[1], kSuites) << scenario.name;
  }
  for (const auto& [scenario, outcome] : outcomes().at("Small suites, one benchmark +20 %")) {
    EXPECT_EQ(outcome.exits[1], kSuites) << scenario.name;
  }
}

TEST(GateAudit, FindsOnePercentAndSideBySideHalfOfIt) {
  for (const auto& [scenario, outcome] : outcomes().at("What is found")) {
    const double found = static_cast<double>(outcome.found) / outcome.slowed;
    const bool is_of_other_cards = scenario.baseline_cards > 0;
    EXPECT_GE(found, is_of_other_cards && scenario.slowdown < 0.02 ? 0.7 : 0.9) << scenario.name;
  }
}

TEST(GateAudit, UnchangedCodePasses) {
  for (const auto& [scenario, outcome] : outcomes().at("Unchanged code")) {
    EXPECT_EQ(outcome.exits[1], 0) << scenario.name;
    // What is measured again is decided.
    EXPECT_LE(outcome.exits[2], scenario.is_extended ? 0 : 5) << scenario.name;
  }
}

TEST(GateAudit, IntervalsAndBoundsHoldTheTruth) {
  for (const auto& [group, scenarios] : outcomes()) {
    for (const auto& [scenario, outcome] : scenarios) {
      if (outcome.judged < 500) continue;
      EXPECT_GE(outcome.covered, 0.89 * outcome.judged) << group << ": " << scenario.name;
      EXPECT_LE(outcome.missed, 0.025 * outcome.bounded) << group << ": " << scenario.name;
    }
  }
}

}  // namespace
}  // namespace fusegate::baselines::audit
