// What judge() promises, on suites with all that goes wrong in practice: noise with heavy tails,
// kernels with two modes, an odd process, a machine that drifts, another card, sessions. The truth
// is known: unchanged code raises an alarm in at most one suite in a hundred, with four and five
// processes a side as they are, with two and three where fresh ones confirm. docs/verdicts.md has
// the figures of longer simulations. The seeds are fixed.
#include <gtest/gtest.h>

#include "baselines/comparing/test_simulator.h"

namespace fusegate::baselines {
namespace {

Simulation with_tails(Simulation simulation) {
  simulation.has_heavy_tails = true;
  return simulation;
}

void expect_no_alarm(Simulation simulation) {
  simulation = with_tails(simulation);
  for (const int invocations : {4, 5}) {
    simulation.invocations = invocations;
    EXPECT_LE(simulate(simulation, 100).suites_with_false_regressions, 1) << invocations;
  }
  int extended = 0;
  for (const int invocations : {2, 3}) {
    simulation.invocations = invocations;
    extended += simulate_sequential(simulation, 20).suites_with_false_regressions;
  }
  EXPECT_LE(extended, 1) << "two and three, extended";
}

double found(Simulation simulation, int suites) {
  const Counts counts = simulate(with_tails(simulation), suites);
  EXPECT_LE(100 * counts.suites_with_false_regressions, suites);
  return static_cast<double>(counts.found) / counts.slowed;
}

Simulation one_slower(double slowdown) {
  return {.invocations = 4, .slowed_share = 1.0 / 60, .slowdown = slowdown};
}

TEST(Promises, HoldWithHeavyTails) { expect_no_alarm({}); }

TEST(Promises, HoldWithTwoModes) {
  expect_no_alarm({.two_modes = 6});
  expect_no_alarm({.is_stored = true, .two_modes = 6});
  for (const int invocations : {2, 3}) {
    const Simulation few{.invocations = invocations, .two_modes = 6};
    EXPECT_LE(simulate(with_tails(few), 100).suites_with_false_regressions, 1) << invocations;
  }
}

TEST(Promises, HoldWithAnOddProcess) { expect_no_alarm({.odd_process = 0.1}); }

TEST(Promises, AFivePercentSlowerKernelIsFoundBesideAnOddProcess) {
  Simulation simulation = one_slower(0.05);
  simulation.odd_process = 0.1;
  EXPECT_GT(found(simulation, 100), 0.85);
}

TEST(Promises, HoldWhereTheMachineDriftsAndEqualWorkTells) {
  expect_no_alarm({.is_stored = true, .drift = 0.01, .identical = 30});
  expect_no_alarm({.is_stored = true, .arithmetic_drift = 0.01, .identical = 30});
}

TEST(Promises, HoldWhereTheMachineDriftsAndNothingTells) {
  for (const Simulation& drifted : {Simulation{.is_stored = true, .drift = 0.01},
                                    Simulation{.is_stored = true, .arithmetic_drift = 0.01}}) {
    expect_no_alarm(drifted);
    EXPECT_EQ(simulate(with_tails(drifted), 10).suites_that_moved, 10) << "and it is said";
  }
}

// Classes of rows that move by 0.05 to 0.4 %, and each row by half as much.
TEST(Promises, HoldWithSessions) {
  for (const double moved : {0.0005, 0.002, 0.004}) {
    for (const int identical : {0, 30}) {
      expect_no_alarm({.is_stored = true,
                       .moves = {.by_duration = moved,
                                 .by_bound = moved,
                                 .least_scatter = moved / 2,
                                 .most_scatter = moved / 2},
                       .identical = identical});
    }
  }
}

TEST(Promises, WhatIsNotKnownOfSessionsHidesNoSingleKernel) {
  Simulation simulation = one_slower(0.05);
  simulation.is_stored = true;
  EXPECT_GT(found(simulation, 100), 0.85);
}

TEST(Promises, HoldOnAnotherCard) {
  constexpr double kSpread = 0.004;
  expect_no_alarm({.is_stored = true, .baseline_cards = 5, .card_spread = kSpread});
  Rule calibrated;
  calibrated.cards = {.calibration = "pr.calibration.json",
                      .cards = 6,
                      .degrees_of_freedom = 5,
                      .classes = {{.time = kSpread, .cycles = kSpread, .equal_clock = kSpread}}};
  expect_no_alarm(
      {.is_stored = true, .baseline_cards = 1, .card_spread = kSpread, .rule = calibrated});
  expect_no_alarm({.is_stored = true, .baseline_cards = 1, .card_spread = kSpread});
}

}  // namespace
}  // namespace fusegate::baselines
