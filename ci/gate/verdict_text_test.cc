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
  verdict.estimates.effect = verdict.estimates.at_equal_clock = equal_clock;
  verdict.estimates.in_time = time;
  verdict.estimates.in_cycles = cycles;
  verdict.estimates.interval = {equal_clock - 0.001, equal_clock + 0.001};
  return verdict;
}

std::string undecided(Obstacle obstacle, const Rule& rule = {},
                      Quantity decided_by = Quantity::kEqualClock) {
  Verdict inconclusive = verdict(VerdictKind::kInconclusive, 0.001, 0.02, 0.01);
  inconclusive.decided_by = decided_by;
  inconclusive.reason.obstacle = obstacle;
  inconclusive.candidate.confirming = 5;
  inconclusive.baseline.compared = 3;
  inconclusive.candidate.compared = 4;
  inconclusive.estimates.common = 0.008;
  inconclusive.estimates.controls = 0.0025;
  inconclusive.reason.modes = baselines::Modes{{4170, 3, 5}, {4300, 1, 1}};
  return reason_text(inconclusive, rule);
}

TEST(ReasonText, OfAChangeGivesTheEffectInAllQuantities) {
  Verdict slower = verdict(VerdictKind::kRegression, 0.05, 0.04, 0.045);
  EXPECT_EQ(reason_text(slower, {}),
            "4.50 % slower at equal clock (+5.00 % in time, +4.00 % in cycles); tested against "
            "0.15 %");
  slower.candidate.confirming = 1;
  EXPECT_THAT(reason_text(slower, {}), testing::EndsWith("; confirmed by 1 fresh process"));
  slower.reason.modes = baselines::Modes{{4170, 3, 5}, {4300, 2, 2}};
  EXPECT_THAT(reason_text(slower, {}),
              testing::EndsWith("; bimodal: 4.170 us in 8 processes, 4.300 us in 4, each compared "
                                "with its like"));
  const Verdict faster = verdict(VerdictKind::kImprovement, -0.05, std::nan(""), -0.05);
  EXPECT_EQ(reason_text(faster, {}),
            "5.00 % faster in time (no cycles to confirm it); tested against 0.15 %");
}

TEST(ReasonText, OfASlowdownSideBySideNamesThePowerThatItDraws) {
  Verdict slower = verdict(VerdictKind::kRegression, 0.0093, 0.0004, 0.0005);
  slower.decided_by = Quantity::kTime;
  slower.estimates.effect = 0.0093;
  EXPECT_EQ(reason_text(slower, {}),
            "0.93 % slower in time (+0.05 % at equal clock, +0.04 % in cycles); tested against "
            "0.15 %");
  slower.reason.clock_moved = true;
  slower.baseline.energy_j = 1.5;
  slower.candidate.energy_j = 1.71;
  EXPECT_THAT(
      reason_text(slower, {}),
      testing::HasSubstr("; it draws more power, which lowers the clock (1.500 J -> 1.710 J "
                         "a call); tested"));
  slower.baseline.energy_j = std::nan("");
  EXPECT_THAT(reason_text(slower, {}), testing::HasSubstr("which lowers the clock; tested"));
  slower.decided_by = Quantity::kCycles;
  EXPECT_THAT(reason_text(slower, {}), testing::HasSubstr("0.93 % slower in cycles (+0.93 % in"));
}

TEST(ReasonText, OfNoChangeGivesTheInterval) {
  EXPECT_EQ(reason_text(verdict(VerdictKind::kUnchanged, 0, 0, 0), {}),
            "the interval -0.10 % to +0.10 % lies within 0.15 %");
}

TEST(ReasonText, OfIdenticalCodeIsTheNoise) {
  Verdict identical = verdict(VerdictKind::kIdentical, 0.02, 0.01, 0.012);
  EXPECT_EQ(reason_text(identical, {}),
            "same machine code, launches and arguments on both sides; measured difference +1.20 % "
            "(noise)");
  identical.estimates.effect = std::nan("");
  EXPECT_EQ(reason_text(identical, {}), "same machine code, launches and arguments on both sides");
}

TEST(ReasonText, OfWhatOneSideLacksOrFailed) {
  EXPECT_EQ(reason_text(verdict(VerdictKind::kNew, 0, 0, 0), {}),
            "the baseline has no such benchmark");
  EXPECT_EQ(reason_text(verdict(VerdictKind::kMissing, 0, 0, 0), {}),
            "the candidate has no such benchmark");
  Verdict failed = verdict(VerdictKind::kInvalid, 0, 0, 0);
  EXPECT_EQ(
      reason_text(failed, {}),
      "was measured by no process of the baseline, as where its code was identical to another "
      "baseline's. Measure with --all");
  failed.reason.failure = "wrong results";
  failed.reason.failed_in_candidate = true;
  EXPECT_EQ(reason_text(failed, {}), "failed in the candidate: wrong results");
}

TEST(ReasonText, SaysWhatWasFoundAndWhatToDo) {
  const std::string more = ". Measure more processes, or allow more with --max-processes";
  const std::string replay =
      ". Run `fusegate replay`, which measures the baseline's program beside this one";
  const std::string doctor = ". Check the machine with `fusegate doctor` and measure again";
  const std::pair<Obstacle, std::string> texts[] = {
      {Obstacle::kNone, "not decided"},
      {Obstacle::kNoSpread,
       "each side has one process, so the spread between processes is unknown. Measure at least "
       "two"},
      {Obstacle::kBorrowedNoise,
       "each side has one process, which may be an outlier; the noise is estimated from the "
       "suite's other benchmarks. Measure at least two"},
      {Obstacle::kSingleCandidate,
       "the candidate has one process, which may be an outlier. Measure at least two"},
      {Obstacle::kSingleBaseline,
       "the baseline has one process, which may be an outlier. Measure at least two"},
      {Obstacle::kMachineMoved,
       "its code is the same on both sides, so the machine changed: +0.10 % in time and +2.00 % in "
       "cycles" +
           doctor},
      {Obstacle::kTwoModes, "bimodal: 4.170 us in 8 processes, 4.300 us in 2" + more},
      {Obstacle::kSlowerMode,
       "bimodal: 3.12 % slower (4.170 us -> 4.300 us) in 1 of 6 processes, in the baseline in 1 of "
       "4, which may be chance" +
           more},
      {Obstacle::kMachineUnknown,
       "+1.00 %, but a machine changes times by some percent from session to session, and too few "
       "benchmarks were measured to estimate how much. Measure both versions side by side "
       "(`fusegate duet`), or add benchmarks whose code does not change"},
      {Obstacle::kAmongOthers,
       "+1.00 %, but the baseline was co-measured with other benchmarks, which can change its "
       "time. Measure the same benchmarks on both sides, or run `fusegate replay`"},
      {Obstacle::kSuiteMoved,
       "+1.00 %, but most similar benchmarks changed too (median +0.80 %); this may be the machine "
       "rather than the code" +
           replay},
      {Obstacle::kFewProcesses,
       "1.00 % slower in 3 processes per side; not yet confirmed. Measure at least 4, or allow "
       "more with --max-processes"},
      {Obstacle::kFewInBaseline,
       "1.00 % slower, but the baseline has only 3 processes; at least 4 are needed to report a "
       "regression. Re-record the baseline or run `fusegate replay`"},
      {Obstacle::kNotConfirmed,
       "1.00 % slower in all processes together, but 5 fresh processes alone do not confirm it" +
           more},
      {Obstacle::kClockSaysSlower,
       "0.10 % slower in time, but not at equal clock (+1.00 %): the clock or the card differs" +
           replay},
      {Obstacle::kDisagreement,
       "+1.00 % at equal clock, but time (+0.10 %) and cycles (+2.00 %) do not both show it" +
           replay},
      {Obstacle::kControlsMoved,
       "+1.00 %, but not by 0.15 % more than control benchmarks changed (0.25 %)" + doctor},
      {Obstacle::kNotCertain,
       "the interval lies beyond 0.15 %, but in a suite of this size that may be chance" + more},
      {Obstacle::kCardsDiffer,
       "the interval, widened by how far cards differ, reaches beyond 0.15 %. Run `fusegate "
       "replay`, or record the baseline on several cards"},
      {Obstacle::kTooWide,
       "the interval reaches beyond 0.15 %, but not far enough to report a change" + more}};
  for (const auto& [obstacle, text] : texts) EXPECT_EQ(undecided(obstacle), text);
  EXPECT_EQ(undecided(Obstacle::kClockSaysFaster), undecided(Obstacle::kClockSaysSlower));
  EXPECT_EQ(
      undecided(Obstacle::kClockSaysSlower, {}, Quantity::kCycles),
      "0.10 % slower in time, but not in the CPU's cycles (+1.00 %): other work ran there, or the "
      "kernel waits. Stop other work on the machine and measure again");
}

TEST(ReasonText, SaysWhereMoreProcessesDoNotHelp) {
  Verdict wide = verdict(VerdictKind::kInconclusive, 0.0052, 0.0052, 0.0052);
  wide.reason.obstacle = Obstacle::kTooWide;
  wide.reason.machine_hides_it = true;
  EXPECT_THAT(reason_text(wide, {}),
              testing::EndsWith(". More processes cannot decide it; run `fusegate replay`"));
}

TEST(WithoutClock, IsOfCyclesWhereTimeAtEqualClockIsTimeItself) {
  const auto where = [](double time, double equal_clock, double cycles) {
    return without_clock({.effect = equal_clock, .in_time = time, .in_cycles = cycles}).where;
  };
  EXPECT_EQ(where(0.25, 0.25, 0.0002), "in cycles");
  EXPECT_EQ(where(0.02, 0.0001, 0.00005), "at equal clock");
  EXPECT_EQ(where(0.25, 0.25, std::numeric_limits<double>::quiet_NaN()), "at equal clock");
}

TEST(ReasonText, NamesBothEndsOfABandWhoseEndsDiffer) {
  // 1 / 1.5 is 33 % faster.
  EXPECT_THAT(undecided(Obstacle::kTooWide, {.min_effect = 0.5}),
              testing::StartsWith("the interval reaches beyond [-33.33, +50.00] %, but not"));
  EXPECT_THAT(undecided(Obstacle::kCardsDiffer, {.min_effect = 0.5}),
              testing::StartsWith("the interval, widened by how far cards differ, reaches beyond "
                                  "[-33.33, +50.00] %. "));
}

TEST(ReasonText, NamesWhatTheLibraryChoseDifferently) {
  Verdict changed = verdict(VerdictKind::kUnchanged, 0, 0, 0);
  changed.reason.choice_changes = {{"gate_proj", "algo 66", "algo 21"}};
  EXPECT_THAT(reason_text(changed, {}),
              testing::EndsWith("; gate_proj was algo 66 and is algo 21"));
  changed.kind = VerdictKind::kInconclusive;
  changed.reason.obstacle = Obstacle::kSingleBaseline;
  EXPECT_EQ(reason_text(changed, {}),
            "the baseline has one process, which may be an outlier; gate_proj was algo 66 and is "
            "algo 21. Measure at least two");
}

Verdict named(const std::string& name, VerdictKind kind, double effect) {
  Verdict one = verdict(kind, effect, effect, effect);
  one.benchmark = name;
  return one;
}

TEST(GroupVerdicts, PutsWhatFailedTheGateFirstAndLargeEffectsBeforeSmall) {
  const std::vector<Verdict> verdicts{
      named("a", VerdictKind::kUnchanged, 0),
      named("b", VerdictKind::kRegression, 0.02),
      named("c", VerdictKind::kRegression, 0.05),
      named("d", VerdictKind::kImprovement, -0.2),
      named("e", VerdictKind::kInvalid, std::numeric_limits<double>::quiet_NaN()),
      named("f", VerdictKind::kImprovement, -0.2),
      named("g", VerdictKind::kIdentical, 0.3)};
  const auto groups = group_verdicts(verdicts);
  std::vector<std::pair<VerdictKind, std::string>> found;
  for (const auto& [kind, verdicts_of_kind] : groups) {
    std::string names;
    for (const Verdict* one : verdicts_of_kind) names += one->benchmark;
    found.emplace_back(kind, names);
  }
  EXPECT_THAT(found,
              testing::ElementsAre(testing::Pair(VerdictKind::kRegression, "cb"),
                                   testing::Pair(VerdictKind::kInvalid, "e"),
                                   testing::Pair(VerdictKind::kImprovement, "df"),  // ties by name
                                   testing::Pair(VerdictKind::kUnchanged, "a"),
                                   testing::Pair(VerdictKind::kIdentical, "g")));
}

TEST(CountText, CountsInWords) {
  EXPECT_EQ(count_text(1, VerdictKind::kRegression), "1 regression");
  EXPECT_EQ(count_text(2, VerdictKind::kRegression), "2 regressions");
  EXPECT_EQ(count_text(4, VerdictKind::kImprovement), "4 improvements");
  EXPECT_EQ(count_text(2, VerdictKind::kUnchanged), "2 unchanged");
}

}  // namespace
}  // namespace fusegate::ci
