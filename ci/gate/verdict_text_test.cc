#include "ci/gate/verdict_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fusegate::ci {
namespace {

using baselines::Obstacle;
using baselines::Quantity;
using baselines::Rule;
using baselines::Verdict;
using baselines::VerdictKind;

Verdict verdict(VerdictKind kind, double time, double cycles, double equal_clock) {
  Verdict verdict;
  verdict.kind = kind;
  verdict.decided_by = std::isnan(cycles) ? Quantity::kTime : Quantity::kEqualClock;
  verdict.effect = verdict.effect_equal_clock = equal_clock;
  verdict.effect_time = time;
  verdict.effect_cycles = cycles;
  verdict.interval = {equal_clock - 0.001, equal_clock + 0.001};
  return verdict;
}

std::string undecided(Obstacle obstacle, const Rule& rule = {},
                      Quantity decided_by = Quantity::kEqualClock) {
  Verdict inconclusive = verdict(VerdictKind::kInconclusive, 0.001, 0.02, 0.01);
  inconclusive.decided_by = decided_by;
  inconclusive.obstacle = obstacle;
  inconclusive.confirming_invocations = 5;
  inconclusive.compared_in_baseline = 3;
  inconclusive.compared_in_candidate = 4;
  inconclusive.suite_moved = 0.008;
  inconclusive.modes = baselines::Modes{{4170, 3, 5}, {4300, 1, 1}};
  return reason_text(inconclusive, rule);
}

TEST(ReasonText, OfAChangeGivesTheEffectInAllQuantities) {
  Verdict slower = verdict(VerdictKind::kRegression, 0.05, 0.04, 0.045);
  EXPECT_EQ(reason_text(slower, {}),
            "slower by 4.50 % at equal clock (+5.00 % in time, +4.00 % in cycles); tested against "
            "0.15 %");
  slower.confirming_invocations = 1;
  EXPECT_THAT(reason_text(slower, {}), testing::EndsWith("; confirmed by 1 fresh invocation"));
  slower.modes = baselines::Modes{{4170, 3, 5}, {4300, 2, 2}};
  EXPECT_THAT(reason_text(slower, {}),
              testing::EndsWith("; seen at 4.170 us in 8 processes and at 4.300 us in 4, compared "
                                "like with like"));
  const Verdict faster = verdict(VerdictKind::kImprovement, -0.05, std::nan(""), -0.05);
  EXPECT_EQ(reason_text(faster, {}),
            "faster by 5.00 % in time; cycles were not available to confirm it; tested against "
            "0.15 %");
}

TEST(ReasonText, OfASlowdownSideBySideNamesThePowerThatItDraws) {
  Verdict slower = verdict(VerdictKind::kRegression, 0.0093, 0.0004, 0.0005);
  slower.decided_by = Quantity::kTime;
  slower.effect = 0.0093;
  EXPECT_EQ(reason_text(slower, {}),
            "slower by 0.93 % in time (+0.05 % at equal clock, +0.04 % in cycles); tested against "
            "0.15 %");
  slower.clock_moved = true;
  slower.baseline_energy_j = 1.5;
  slower.candidate_energy_j = 1.71;
  EXPECT_THAT(
      reason_text(slower, {}),
      testing::HasSubstr("; it draws more power, so that the clock is lower: 1.710 J a call, "
                         "before 1.500 J; tested"));
  slower.baseline_energy_j = std::nan("");
  EXPECT_THAT(reason_text(slower, {}), testing::HasSubstr("so that the clock is lower; tested"));
  slower.decided_by = Quantity::kCycles;
  EXPECT_THAT(reason_text(slower, {}), testing::HasSubstr("0.93 % in cycles (+0.93 % in time)"));
}

TEST(ReasonText, OfNoChangeGivesTheInterval) {
  EXPECT_EQ(reason_text(verdict(VerdictKind::kUnchanged, 0, 0, 0), {}),
            "the interval -0.10 % to +0.10 % lies within 0.15 %");
}

TEST(ReasonText, OfEqualWorkIsWhatTheMachineDid) {
  Verdict identical = verdict(VerdictKind::kIdentical, 0.02, 0.01, 0.012);
  EXPECT_EQ(reason_text(identical, {}),
            "the same machine code, launches and arguments on both sides; the machine did +1.20 %");
  identical.effect = std::nan("");
  EXPECT_EQ(reason_text(identical, {}),
            "the same machine code, launches and arguments on both sides");
}

TEST(ReasonText, OfWhatOneSideLacksOrFailed) {
  EXPECT_EQ(reason_text(verdict(VerdictKind::kNew, 0, 0, 0), {}),
            "the baseline has no such benchmark");
  EXPECT_EQ(reason_text(verdict(VerdictKind::kMissing, 0, 0, 0), {}),
            "the candidate has no such benchmark");
  Verdict failed = verdict(VerdictKind::kInvalid, 0, 0, 0);
  EXPECT_EQ(reason_text(failed, {}), "failed in the baseline: no invocation measured it");
  failed.failure = "wrong results";
  failed.failed_in_candidate = true;
  EXPECT_EQ(reason_text(failed, {}), "failed in the candidate: wrong results");
}

TEST(ReasonText, NamesTheObstacle) {
  EXPECT_EQ(undecided(Obstacle::kNoSpread),
            "one invocation a side says nothing about the spread between invocations; take at "
            "least two");
  EXPECT_EQ(undecided(Obstacle::kBorrowedNoise),
            "one invocation a side may be the odd one out, and the noise shown is that of the "
            "suite's other benchmarks; take at least two");
  EXPECT_EQ(undecided(Obstacle::kSingleCandidate),
            "one invocation of the candidate may be the odd one out; take at least two");
  EXPECT_EQ(undecided(Obstacle::kSingleBaseline),
            "one invocation of the baseline may be the odd one out; take at least two");
  EXPECT_EQ(undecided(Obstacle::kMachineMoved),
            "its code is the same on both sides, so the machine moved: +0.10 % in time and +2.00 % "
            "in cycles");
  EXPECT_EQ(
      undecided(Obstacle::kTwoModes),
      "its processes take one of two ways: seen at 4.170 us in 8 processes and at 4.300 us in "
      "2");
  EXPECT_EQ(undecided(Obstacle::kFewProcesses),
            "slower by 1.00 %, but of 3 processes a side and not confirmed by fresh ones; measure "
            "4, or let the run be extended");
  EXPECT_EQ(undecided(Obstacle::kFewInBaseline),
            "slower by 1.00 %, but held against 3 processes of the baseline, and fewer than 4 call "
            "nothing, whatever is measured here; `fusegate replay` measures the baseline's program "
            "beside this one");
  EXPECT_EQ(undecided(Obstacle::kSuiteMoved),
            "+1.00 %, but most benchmarks of its kind moved (+0.80 % in the median), and no equal "
            "work tells whether the machine did that; `fusegate replay` measures the baseline's "
            "program beside this one");
  EXPECT_EQ(undecided(Obstacle::kNotConfirmed),
            "all invocations together say slower (+1.00 %), but that is not confirmed by 5 fresh "
            "ones alone");
  EXPECT_EQ(
      undecided(Obstacle::kClockSaysSlower),
      "time says slower (+0.10 %), time at equal clock does not (+1.00 %): the clock or the card "
      "differ; `fusegate replay` measures the baseline's program beside this one");
  EXPECT_EQ(
      undecided(Obstacle::kClockSaysFaster),
      "time says faster (+0.10 %), time at equal clock does not (+1.00 %): the clock or the card "
      "differ; `fusegate replay` measures the baseline's program beside this one");
  EXPECT_EQ(undecided(Obstacle::kDisagreement),
            "+1.00 % at equal clock, but time (+0.10 %) and cycles (+2.00 %) do not both show it");
}

TEST(CyclesTellBetter, WhereTimeAtEqualClockIsTimeItself) {
  EXPECT_TRUE(cycles_tell_better(0.25, 0.25, 0.0002));
  EXPECT_FALSE(cycles_tell_better(0.02, 0.0001, 0.00005));
  EXPECT_FALSE(cycles_tell_better(0.25, 0.25, std::numeric_limits<double>::quiet_NaN()));
}

TEST(ReasonText, OfACpuNamesOtherWorkAndWaiting) {
  EXPECT_EQ(
      undecided(Obstacle::kClockSaysSlower, {}, Quantity::kCycles),
      "time says slower (+0.10 %), the cycles that the CPU spent do not (+1.00 %): other work "
      "ran there, or the kernel waits");
}

TEST(ReasonText, NamesNoObstacleWhereNoneIsKnown) {
  EXPECT_EQ(undecided(Obstacle::kNone), "not decided");
}

TEST(ReasonText, SaysWhatStandsInTheWayOfAnIntervalBeyondWhatMatters) {
  Verdict slower = verdict(VerdictKind::kInconclusive, 0.0052, 0.0052, 0.0052);
  slower.obstacle = Obstacle::kControlsMoved;
  slower.controls_moved = 0.0025;
  EXPECT_EQ(reason_text(slower, {}),
            "+0.52 %, but not by 0.15 % more than controls moved (0.25 %)");
  slower.obstacle = Obstacle::kNotCertain;
  EXPECT_EQ(reason_text(slower, {}),
            "the interval lies beyond 0.15 %, but over the whole suite that may still be chance");
}

TEST(ReasonText, NamesBothEndsOfABandWhoseEndsDiffer) {
  EXPECT_EQ(undecided(Obstacle::kTooWide),
            "the interval reaches past 0.15 %, but not far enough to call it");
  // 1 / 1.5 is 33 % faster.
  EXPECT_EQ(undecided(Obstacle::kTooWide, {.min_effect = 0.5}),
            "the interval reaches past [-33.33, +50.00] %, but not far enough to call it");
  EXPECT_EQ(undecided(Obstacle::kCardsDiffer, {.min_effect = 0.5}),
            "the interval, widened by what cards differ by, reaches past [-33.33, +50.00] %");
}

TEST(ReasonText, NamesWhatTheLibraryChoseDifferently) {
  Verdict changed = verdict(VerdictKind::kUnchanged, 0, 0, 0);
  changed.choice_changes = {{"gate_proj", "algo 66", "algo 21"}};
  EXPECT_THAT(reason_text(changed, {}),
              testing::EndsWith("; gate_proj was algo 66 and is algo 21"));
}

}  // namespace
}  // namespace fusegate::ci
