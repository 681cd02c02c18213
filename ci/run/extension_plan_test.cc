#include "ci/run/extension_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "baselines/statistics/statistics.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using enum baselines::VerdictKind;

std::vector<baselines::Verdict> verdicts(
    const std::vector<std::pair<std::string, baselines::VerdictKind>>& kinds) {
  std::vector<baselines::Verdict> result;
  for (const auto& [name, kind] : kinds) {
    result.emplace_back();
    result.back().benchmark = name;
    result.back().kind = kind;
  }
  return result;
}

// How many further processes one benchmark gets that has one verdict first, and another from
// interim analysis number `change` on.
int extensions_of(baselines::VerdictKind first, baselines::VerdictKind then, int change,
                  ExtensionPlan plan = {5, 15}) {
  for (int analysis = 0;; ++analysis) {
    const auto round = plan.next(verdicts({{"a", analysis < change ? first : then}}));
    if (round.benchmarks.empty() || analysis > 20) return analysis;
    plan.count_round(round.benchmarks);
  }
}

TEST(NextExtension, ConfirmsByAsManyProcessesAgainAsThereAreOrAsTheMaximumLeaves) {
  const auto confirmation = [](int processes, int max_processes) {
    return extensions_of(kRegression, kRegression, 0, ExtensionPlan(processes, max_processes));
  };
  EXPECT_EQ(confirmation(5, 15), 5);
  EXPECT_EQ(confirmation(5, 8), 3);
  EXPECT_EQ(confirmation(5, 5), 0);
}

TEST(NextExtension, WhatTooFewProcessesMeasuredIsSuspiciousAlready) {
  auto verdict = verdicts({{"slower", kInconclusive}}).front();
  verdict.reason.obstacle = baselines::Obstacle::kFewProcesses;
  verdict.estimates.effect = 0.05;
  ExtensionPlan plan(2, 6);
  EXPECT_THAT(plan.next({verdict}).unconfirmed, ElementsAre("slower")) << "whatever the budget";
  verdict.estimates.effect = -0.05;
  verdict.benchmark = "faster";
  EXPECT_THAT(ExtensionPlan(2, 6).next({verdict}).unconfirmed, IsEmpty());
}

TEST(NextExtension, TakesTheUndecidedAndTheSuspiciousAlone) {
  ExtensionPlan plan(5, 15);
  const ExtensionRound round = plan.next(verdicts({{"invalid", kInvalid},
                                                   {"slower", kRegression},
                                                   {"faster", kImprovement},
                                                   {"same", kUnchanged},
                                                   {"equal", kIdentical},
                                                   {"new", kNew},
                                                   {"gone", kMissing},
                                                   {"open", kInconclusive}}));
  EXPECT_THAT(round.benchmarks, ElementsAre("faster", "open", "slower"));
  EXPECT_THAT(round.unconfirmed, ElementsAre("slower"));
  EXPECT_EQ(plan.suite_size(), 8u);
}

TEST(NextExtension, GoesOnAsLongAsTheVerdictsSay) {
  // A change gets a fixed number, whatever the analyses between say of it.
  EXPECT_EQ(extensions_of(kRegression, kRegression, 0), 5);
  EXPECT_EQ(extensions_of(kImprovement, kImprovement, 0), 5);
  EXPECT_EQ(extensions_of(kImprovement, kUnchanged, 1), 5);
  EXPECT_EQ(extensions_of(kRegression, kUnchanged, 1), 5);
  EXPECT_EQ(extensions_of(kRegression, kImprovement, 3), 5);
  // The undecided gets all there is.
  EXPECT_EQ(extensions_of(kInconclusive, kInconclusive, 0), 10);
  EXPECT_EQ(extensions_of(kRegression, kInconclusive, 5), 10);
  // Futility stops.
  EXPECT_EQ(extensions_of(kInconclusive, kUnchanged, 3), 3);
  EXPECT_EQ(extensions_of(kInconclusive, kIdentical, 3), 3);
  EXPECT_EQ(extensions_of(kInconclusive, kInvalid, 3), 3);
  EXPECT_EQ(extensions_of(kRegression, kInvalid, 3), 3);
}

TEST(NextExtension, NeverStopsBecauseABenchmarkLooksChanged) {
  for (int change = 1; change <= 10; ++change) {
    EXPECT_EQ(extensions_of(kInconclusive, kRegression, change), 10) << change;
    EXPECT_EQ(extensions_of(kInconclusive, kImprovement, change), 10) << change;
  }
  // Undecided after its confirmation, and slower again one round later.
  ExtensionPlan plan(5, 15);
  int extensions = 0;
  for (const baselines::VerdictKind kind :
       {kRegression, kRegression, kRegression, kRegression, kRegression, kInconclusive, kRegression,
        kRegression, kRegression, kRegression}) {
    const auto round = plan.next(verdicts({{"a", kind}}));
    EXPECT_THAT(round.benchmarks, ElementsAre("a")) << extensions;
    plan.count_round(round.benchmarks);
    ++extensions;
  }
  EXPECT_THAT(plan.next(verdicts({{"a", kRegression}})).benchmarks, IsEmpty());
}

TEST(NextExtension, ConfirmsWhatTurnsSuspiciousOnlyByItsNeighbours) {
  ExtensionPlan plan(5, 15);
  EXPECT_THAT(plan.next(verdicts({{"a", kUnchanged}, {"b", kInconclusive}})).benchmarks,
              ElementsAre("b"));
  plan.count_round({"b"});
  const auto round = plan.next(verdicts({{"a", kRegression}, {"b", kUnchanged}}));
  EXPECT_THAT(round.benchmarks, ElementsAre("a"));
  EXPECT_THAT(round.unconfirmed, ElementsAre("a"));
}

TEST(NextExtension, ExemptsTwoRoundsOfASuspicionFromTheBudget) {
  for (const baselines::VerdictKind later : {kRegression, kInconclusive, kUnchanged}) {
    ExtensionPlan plan(5, 15);
    plan.next(verdicts({{"a", kRegression}, {"b", kInconclusive}}));
    plan.count_round({"a", "b"});
    EXPECT_THAT(plan.next(verdicts({{"a", later}, {"b", kInconclusive}})).unconfirmed,
                ElementsAre("a"));
    plan.count_round({"a"});
    EXPECT_THAT(plan.next(verdicts({{"a", later}, {"b", kInconclusive}})).unconfirmed, IsEmpty());
  }
}

TEST(NextExtension, LeavesControlsAloneAndWhatTheMachineHides) {
  auto undecided = verdicts(
      {{"a", kInconclusive}, {"b", kInconclusive}, {"control_copy/memcpy", kInconclusive}});
  undecided[0].reason.machine_hides_it = true;
  undecided[2].is_control = true;
  EXPECT_THAT(ExtensionPlan(5, 15).next(undecided).benchmarks, ElementsAre("b"));
}

TEST(NextExtension, TakesTheWorstOfSeveralRunsVerdicts) {
  ExtensionPlan plan(5, 15);
  const auto round = plan.next(
      verdicts({{"a", kRegression}, {"b", kUnchanged}, {"a", kUnchanged}, {"b", kInconclusive}}));
  EXPECT_THAT(round.benchmarks, ElementsAre("a", "b"));
  EXPECT_THAT(round.unconfirmed, ElementsAre("a"));
}

constexpr double kLevel = 0.05;
const double kThreshold = std::log1p(0.005);

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

baselines::Contrast contrast(const std::vector<double>& base, const std::vector<double>& head) {
  const auto n = static_cast<double>(base.size());
  double squares = 0;
  for (const double value : base) squares += std::pow(value - mean(base), 2);
  for (const double value : head) squares += std::pow(value - mean(head), 2);
  const double degrees = 2 * n - 2;
  return {mean(head) - mean(base), std::sqrt(squares / degrees * 2 / n), degrees};
}

baselines::VerdictKind kind_of(const baselines::Contrast& contrast) {
  if (baselines::p_above(contrast, kThreshold) <= kLevel) return kRegression;
  const baselines::Interval interval = baselines::confidence_interval(contrast, 0.95);
  return interval.low >= -kThreshold && interval.high <= kThreshold ? kUnchanged : kInconclusive;
}

TEST(ExtensionPlan, DoesNotRaiseTheRateOfFalseRegressions) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.003);
  constexpr int kBenchmarks = 4000;
  int called = 0;
  for (int i = 0; i < kBenchmarks; ++i) {
    std::vector<double> base;
    std::vector<double> head;
    ExtensionPlan plan(5, 15);
    baselines::VerdictKind kind = kInconclusive;
    for (bool goes_on = true; goes_on;) {
      // Slower by just the smallest effect: the hardest case that must not be called.
      do {
        base.push_back(noise(random));
        head.push_back(noise(random) + kThreshold);
      } while (base.size() < 5);
      kind = kind_of(contrast(base, head));
      const auto round = plan.next(verdicts({{"a", kind}}));
      plan.count_round(round.benchmarks);
      goes_on = !round.benchmarks.empty();
    }
    if (kind == kRegression) ++called;
  }
  // Stopping as soon as a benchmark looks slower calls 14 % in this very loop.
  EXPECT_LT(called, 1.3 * kLevel * kBenchmarks);
}

}  // namespace
}  // namespace fusegate::ci
