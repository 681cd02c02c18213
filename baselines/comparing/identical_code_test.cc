// Identical code as the measure of the machine: which rows are of one kind, and whether verdicts
// keep their promises where a session or a card moved unchanged code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "baselines/comparing/drift.h"
#include "baselines/comparing/judge.h"
#include "baselines/comparing/test_simulator.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;

BenchmarkSeries series(const std::string& name, double time_ns, double intensity) {
  BenchmarkSeries series = test_series(name, {time_ns, time_ns});
  if (intensity > 0) series.counters = {{"flops", 1e6 * intensity}, {"min_bytes", 1e6}};
  return series;
}

TEST(MachineGroups, AreThirdsOfDurationByHalvesOfIntensity) {
  const std::vector<BenchmarkSeries> all{
      series("a", 1.0e3, 1),   series("b", 1.1e3, 500), series("c", 1.0e4, 1),
      series("d", 1.1e4, 500), series("e", 1.0e6, 1),   series("f", 1.1e6, 500),
      series("g", 1.2e6, 0),   series("h", 0.9e3, 0),   series("i", 1.2e4, 0)};
  std::vector<Comparison> suite;
  for (const BenchmarkSeries& one : all) {
    suite.push_back({.baseline = &one, .candidate = &one});
  }
  EXPECT_THAT(machine_groups(suite), ElementsAre(0, 3, 1, 4, 2, 5, 8, 6, 7));
}

TEST(ShowsMachineAlone, IdenticalCodeAndControlsThatMayBeIdentical) {
  const auto shows = [](const BenchmarkSeries& before, const BenchmarkSeries& after, bool control) {
    Comparison comparison{.baseline = &before, .candidate = &after};
    comparison.is_control = control;
    comparison.is_identical = identical_code(before, after);
    return shows_machine_alone(comparison);
  };
  const auto plain = test_series("a", {1});
  EXPECT_FALSE(shows(plain, plain, false));
  EXPECT_TRUE(shows(plain, plain, true));
  EXPECT_TRUE(shows(doing(plain, "0f"), doing(plain, "0f"), false));
  EXPECT_TRUE(shows(doing(plain, "0f"), plain, true));
  EXPECT_FALSE(shows(doing(plain, "0f"), doing(plain, "1e"), true)) << "another algorithm";
}

TEST(NotMeasured, IsUndecidedAndNamesTheReason) {
  const BenchmarkSeries quiet = test_series("quiet", kQuiet);
  const auto unmeasured = [](const char* code) { return doing(test_series("left", {}), code); };
  const baselines::Run base = test_run({unmeasured("0f"), quiet});
  baselines::Run head = test_run({unmeasured("1e"), quiet});
  EXPECT_EQ(judge(base, head, {}).front().kind, VerdictKind::kInvalid) << "nobody says why";
  head.left_out["left"] = "outside of the budget";
  const Verdict verdict = judge(base, head, {}).front();
  EXPECT_EQ(verdict.kind, VerdictKind::kInconclusive);
  EXPECT_EQ(verdict.reason.obstacle, Obstacle::kNotMeasured);
  EXPECT_EQ(verdict.reason.failure, "outside of the budget");
  EXPECT_TRUE(std::isnan(verdict.estimates.ruled_out));
  EXPECT_EQ(judge(test_run({quiet}), head, {}).front().kind, VerdictKind::kNew);
  head.benchmarks[0] = unmeasured("0f");
  EXPECT_EQ(judge(base, head, {}).front().kind, VerdictKind::kIdentical);
}

// A suite of 104 rows, in two sessions or on two cards that move rows by their duration and bound,
// and each row besides.
Simulation moved(int identical, double most_scatter = 0.004) {
  return {.benchmarks = 104,
          .is_stored = true,
          .noise_range = 8,
          .moves = {.common = 0.005,
                    .by_duration = 0.006,
                    .by_bound = 0.003,
                    .least_scatter = 0.0005,
                    .most_scatter = most_scatter},
          .identical = identical};
}

TEST(IdenticalCode, KeepsTheMachineFromBeingBlamed) {
  int false_calls = 0;
  for (const int identical : {16, 52, 90}) {
    false_calls += simulate(moved(identical), 70).suites_with_false_regressions;
  }
  EXPECT_LE(false_calls, 2);
  // Else it is a test of nothing.
  const Counts unknown = simulate(moved(0), 20);
  EXPECT_GT(unknown.suites_that_moved, 0);
  EXPECT_EQ(unknown.suites_with_false_regressions, 0);
}

TEST(IdenticalCode, LeavesOneAndAHalfPercentToBeFound) {
  Simulation simulation = moved(52, 0.001);
  simulation.slowed_share = 0.1;
  simulation.slowdown = 0.015;
  simulation.baseline_cards = 1;
  const Counts counts = simulate(simulation, 30);
  EXPECT_EQ(counts.suites_with_false_regressions, 0);
  EXPECT_GT(counts.found, 0.8 * counts.slowed);
}

TEST(IdenticalCode, SaysWhatTheMachineDid) {
  fusegate::baselines::Run baseline;
  fusegate::baselines::Run candidate;
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  const auto times = [&](double factor) {
    std::vector<double> values;
    for (int i = 0; i < 5; ++i) values.push_back(1e4 * factor * std::exp(3e-4 * normal(random)));
    return values;
  };
  for (int i = 0; i < 20; ++i) {
    const std::string name = fmt::format("equal {:02}", i);
    baseline.benchmarks.push_back(doing(test_series(name, times(1)), "0f"));
    candidate.benchmarks.push_back(doing(test_series(name, times(1.02)), "0f"));
  }
  baseline.benchmarks.push_back(doing(test_series("fixed", times(1)), "0f"));
  candidate.benchmarks.push_back(doing(test_series("fixed", times(1.02)), "1e"));
  baseline.benchmarks.push_back(doing(test_series("slower", times(1)), "0f"));
  candidate.benchmarks.push_back(doing(test_series("slower", times(1.03)), "1e"));
  const auto verdicts = judge(baseline, candidate, {});
  const Verdict& equal = verdicts.at(0);
  const Verdict& fixed = verdicts.at(20);
  const Verdict& slower = verdicts.at(21);
  EXPECT_EQ(equal.kind, VerdictKind::kIdentical);
  EXPECT_NEAR(equal.estimates.effect, 0.02, 0.001) << "what the machine did is kept";
  EXPECT_EQ(equal.estimates.ruled_out, 0);
  EXPECT_EQ(fixed.kind, VerdictKind::kUnchanged);
  EXPECT_NEAR(fixed.estimates.effect, 0, 0.001);
  EXPECT_NEAR(fixed.estimates.machine, 0.02, 0.001);
  EXPECT_EQ(slower.kind, VerdictKind::kRegression);
  EXPECT_NEAR(slower.estimates.effect, 1.03 / 1.02 - 1, 0.001);
  EXPECT_GT(slower.estimates.ruled_out, slower.estimates.effect);
}

}  // namespace
}  // namespace fusegate::baselines
