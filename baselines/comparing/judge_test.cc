#include "baselines/comparing/judge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/io/error.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;

auto is_open_by(Obstacle obstacle) {
  return AllOf(Field(&Verdict::kind, VerdictKind::kInconclusive),
               Field(&Verdict::reason, Field(&Reason::obstacle, obstacle)));
}

Verdict judge_one(const BenchmarkSeries& baseline, const BenchmarkSeries& candidate,
                  const Rule& rule = {}) {
  return judge(on_still_machine(test_run({baseline})), on_still_machine(test_run({candidate})),
               rule)
      .at(0);
}

// The processes of each side took so long.
Verdict judge_times(const std::vector<double>& baseline, const std::vector<double>& candidate,
                    const Rule& rule = {}) {
  return judge_one(test_series("a", baseline), test_series("a", candidate), rule);
}

TEST(Judge, CallsARegression) {
  const Verdict verdict = judge_times(kQuiet, scaled(kQuiet, 1.05));
  EXPECT_EQ(verdict.kind, VerdictKind::kRegression);
  EXPECT_EQ(verdict.benchmark, "a");
  EXPECT_NEAR(verdict.estimates.in_time, 0.05, 1e-9);
  EXPECT_NEAR(verdict.estimates.in_cycles, 0.05, 1e-9);
  EXPECT_LT(verdict.estimates.interval.low, 0.05);
  EXPECT_GT(verdict.estimates.interval.high, 0.05);
  EXPECT_GT(verdict.estimates.interval.low, 0.049);
  EXPECT_NEAR(verdict.baseline.time_ns, 1000, 0.01);
  EXPECT_NEAR(verdict.candidate.time_ns, 1050, 0.01);
  EXPECT_LT(verdict.estimates.p, 1e-5);
  EXPECT_EQ(verdict.baseline.processes, 5);
  EXPECT_EQ(verdict.candidate.processes, 5);
  EXPECT_EQ(verdict.reason.obstacle, Obstacle::kNone);
}

// Against stored figures nothing shows how far the machine moved it.
TEST(Judge, ASingleStoredBenchmarkIsCalledByPercentsAlone) {
  const auto judged = [](double factor) {
    return judge(test_run({test_series("a", kQuiet)}),
                 test_run({test_series("a", scaled(kQuiet, factor))}), {})
        .at(0);
  };
  EXPECT_EQ(judged(1.05).kind, VerdictKind::kRegression);
  for (const double factor : {1.004, 1.01}) {
    const Verdict open = judged(factor);
    EXPECT_THAT(open, is_open_by(Obstacle::kMachineUnknown)) << factor;
    EXPECT_TRUE(open.reason.machine_hides_it) << "more processes would not show it";
  }
  const auto noisy = test_series("a", {1000, 1050, 950, 1020, 980});
  EXPECT_FALSE(judge(test_run({noisy}), test_run({noisy}), {})[0].reason.machine_hides_it);
  EXPECT_LT(judged(1).estimates.ruled_out, 0.05);
}

// Part of a suite against the whole: of the same code one benchmark was 0.48 % slower.
TEST(Judge, WhatWasMeasuredAmongOtherBenchmarksIsNotCalled) {
  std::vector<BenchmarkSeries> whole;
  for (int i = 0; i < 40; ++i) whole.push_back(test_series(fmt::format("b{:02}", i), kQuiet));
  std::vector<BenchmarkSeries> part(whole.begin(), whole.begin() + 20);
  part[3] = test_series("b03", slowed(0.0048));
  const auto judged = [&](const std::vector<BenchmarkSeries>& after, const std::string& session) {
    auto left = test_run(whole);
    auto right = test_run(after);
    left.provenance.device_uuid = right.provenance.device_uuid = "GPU-1";
    left.session = right.session = session;
    return judge(left, right, {}).at(3);
  };
  EXPECT_THAT(judged(part, ""), is_open_by(Obstacle::kAmongOthers));
  EXPECT_EQ(judged(part, "one").kind, VerdictKind::kRegression) << "side by side";
  part.insert(part.end(), whole.begin() + 20, whole.end());
  EXPECT_EQ(judged(part, "").kind, VerdictKind::kRegression) << "the whole";
}

TEST(Judge, CallsAnImprovement) {
  const Verdict verdict = judge_times(kQuiet, scaled(kQuiet, 0.95));
  EXPECT_EQ(verdict.kind, VerdictKind::kImprovement);
  EXPECT_NEAR(verdict.estimates.in_time, -0.05, 1e-9);
  EXPECT_LT(verdict.estimates.p, 1e-5);
}

TEST(Judge, IdenticalCodeIsNeverBlamed) {
  const auto before = doing(test_series("a", kQuiet), "0f");
  for (const double factor : {1.0, 1.5, 0.5}) {
    const Verdict verdict =
        judge_one(before, doing(test_series("a", scaled(kQuiet, factor)), "0f"));
    EXPECT_EQ(verdict.kind, VerdictKind::kIdentical) << factor;
    EXPECT_NEAR(verdict.estimates.effect, factor - 1, 1e-9) << "what the machine did is kept";
    EXPECT_LT(verdict.estimates.interval.low, factor - 1);
    EXPECT_EQ(verdict.reason.obstacle, Obstacle::kNone);
  }
  const auto slower = test_series("a", scaled(kQuiet, 1.5));
  EXPECT_EQ(judge_one(before, doing(slower, "1e")).kind, VerdictKind::kRegression);
  EXPECT_EQ(judge_one(before, slower).kind, VerdictKind::kRegression) << "not known is not equal";
  EXPECT_EQ(judge_one(test_series("a", kQuiet), doing(slower, "0f")).kind,
            VerdictKind::kRegression);
}

TEST(Judge, IdenticalCodeNeedsNoTimesAndNoSecondProcess) {
  const auto before = doing(test_series("a", kQuiet), "0f");
  EXPECT_EQ(judge_one(before, doing(test_series("a", {1500}), "0f")).kind, VerdictKind::kIdentical);
  EXPECT_EQ(
      judge_one(doing(test_series("a", {1000}), "0f"), doing(test_series("a", {1500}), "0f")).kind,
      VerdictKind::kIdentical);
  const Verdict untimed = judge_one(before, doing(test_series("a", {}), "0f"));
  EXPECT_EQ(untimed.kind, VerdictKind::kIdentical);
  EXPECT_TRUE(std::isnan(untimed.estimates.effect));
  EXPECT_EQ(judge_one(before, doing(test_series("a", {}), "1e")).kind, VerdictKind::kInvalid);
  EXPECT_EQ(judge_one(before, doing(failed_series("a", "wrong results"), "0f")).kind,
            VerdictKind::kInvalid);
}

TEST(Judge, CallsUnchangedOnlyWithinTheSmallestEffect) {
  EXPECT_EQ(judge_times(kQuiet, scaled(kQuiet, 1.0005)).kind, VerdictKind::kUnchanged);
  const Verdict noisy = judge_times({1000, 1030, 970}, {1001, 1029, 972});
  EXPECT_THAT(noisy, is_open_by(Obstacle::kTooWide));
  const auto slower = scaled(kQuiet, 1.001);
  EXPECT_EQ(judge_times(kQuiet, slower, {.min_effect = 0.002}).kind, VerdictKind::kUnchanged);
  EXPECT_EQ(judge_times(kQuiet, slower, {.min_effect = 0.0002}).kind, VerdictKind::kRegression);
}

TEST(Judge, TheEdgesOfUnchangedAreRatios) {
  // Faster by 10 % is 1 / 1.1: just outside of the smallest effect, as slower by 10 % is.
  const auto is_unchanged = [](double factor) {
    const Rule rule{.min_effect = 0.1, .confidence = 0.5};
    return judge_times({1000, 1000}, {1000 * factor, 1000 * factor}, rule).kind ==
           VerdictKind::kUnchanged;
  };
  EXPECT_TRUE(is_unchanged(1.099));
  EXPECT_TRUE(is_unchanged(1 / 1.099));
  EXPECT_FALSE(is_unchanged(1.101));
  EXPECT_FALSE(is_unchanged(1 / 1.101));
}

// Whose time goes wholly with the clock.
BenchmarkSeries bound_by_clock(BenchmarkSeries series) {
  for (ProcessSummary& summary : series.processes) {
    summary.clock_fit = {
        .time_squares = 1e-4, .clock_squares = 1e-4, .products = -1e-4, .degrees_of_freedom = 50};
  }
  return series;
}

Run of_session(const std::string& session, const BenchmarkSeries& series) {
  Run run = test_run({series});
  run.session = session;
  for (std::size_t i = 0; i < series.processes.size(); ++i) {
    run.benchmarks[0].processes[i].block = static_cast<int>(i) + 1;
  }
  return run;
}

Verdict judge_beside(const BenchmarkSeries& baseline, const BenchmarkSeries& candidate) {
  return judge(of_session("s", baseline), of_session("s", candidate), {}).at(0);
}

TEST(Judge, SideBySideALowerClockIsTheCodesDoing) {
  BenchmarkSeries before = bound_by_clock(test_series("a", kQuiet, 2));
  BenchmarkSeries after = bound_by_clock(test_series("a", scaled(kQuiet, 1.0093), 2 / 1.0093));
  before.counters = {{"energy_per_call_j", 1.5}};
  after.counters = {{"energy_per_call_j", 1.7}};
  const Verdict verdict = judge_beside(before, after);
  EXPECT_EQ(verdict.kind, VerdictKind::kRegression);
  EXPECT_EQ(verdict.decided_by, Quantity::kTime);
  EXPECT_NEAR(verdict.estimates.effect, 0.0093, 1e-6);
  EXPECT_NEAR(verdict.estimates.at_equal_clock, 0, 1e-4);
  EXPECT_NEAR(verdict.estimates.in_cycles, 0, 1e-6);
  EXPECT_TRUE(verdict.reason.clock_moved);
  EXPECT_EQ(verdict.baseline.energy_j, 1.5);
  EXPECT_EQ(verdict.candidate.energy_j, 1.7);
  // Against stored figures it may as well be the day's or the card's.
  const Verdict stored = judge_one(before, after);
  EXPECT_THAT(stored, is_open_by(Obstacle::kClockSaysSlower));
  EXPECT_EQ(stored.decided_by, Quantity::kEqualClock);
  EXPECT_GT(stored.estimates.ruled_out, 0.009) << "as much may be the code's";
}

TEST(Judge, SideBySideWhatTakesAsLongIsUnchangedAtAnyClock) {
  const auto beside = [](const std::vector<double>& times, double clock_ghz) {
    return judge_beside(bound_by_clock(test_series("a", kQuiet, 2)),
                        bound_by_clock(test_series("a", times, clock_ghz)));
  };
  EXPECT_EQ(beside(kQuiet, 1.96).kind, VerdictKind::kUnchanged);
  const Verdict slower = beside(scaled(kQuiet, 1.02), 2);
  EXPECT_EQ(slower.kind, VerdictKind::kRegression);
  EXPECT_FALSE(slower.reason.clock_moved);
}

// Of a CPU, side by side. clocks: of each process, in GHz, lower the more other work ran there.
Run on_cpu(const std::vector<double>& times, const std::vector<double>& clocks) {
  BenchmarkSeries series = test_series("a", times, 1);
  for (std::size_t i = 0; i < times.size(); ++i) {
    series.processes[i].cycles = times[i] * clocks[i % clocks.size()];
  }
  Run run = of_session("s", series);
  run.environment[kCpuCycles] = "cpu_time";
  return run;
}

TEST(Judge, OnACpuCyclesDecideWhateverTimeOtherWorkTook) {
  // Time goes up as the thread's share of the CPU goes down, on each side in its own way.
  const auto shared = [](double factor, const std::vector<double>& busy) {
    std::vector<double> times;
    for (std::size_t i = 0; i < busy.size(); ++i) {
      times.push_back(factor * (i % 2 == 0 ? 1000 : 1002) / busy[i]);
    }
    return on_cpu(times, busy);
  };
  const auto before = shared(1, {1, 0.5, 0.9, 0.6, 0.8, 0.7});
  const Rule rule{.min_effect = 0.1};
  const Verdict slower = judge(before, shared(1.25, {0.6, 1, 0.7, 0.9, 0.5, 0.8}), rule).at(0);
  EXPECT_EQ(slower.kind, VerdictKind::kRegression);
  EXPECT_EQ(slower.decided_by, Quantity::kCycles);
  EXPECT_NEAR(slower.estimates.effect, 0.25, 1e-6);
  const Verdict same = judge(before, shared(1, {0.5, 0.7, 0.5, 0.6, 0.9, 0.4}), rule).at(0);
  EXPECT_EQ(same.kind, VerdictKind::kUnchanged);
}

TEST(Judge, OnACpuAKernelThatWaitsIsNotCalledUnchanged) {
  const std::vector<double> before{1000, 1001, 999, 1000, 1001, 999};
  const Verdict waits =
      judge(on_cpu(before, {1}), on_cpu(scaled(before, 2), {0.5}), {.min_effect = 0.1}).at(0);
  EXPECT_NEAR(waits.estimates.effect, 0, 1e-6);
  EXPECT_NEAR(waits.estimates.in_time, 1, 1e-6);
  EXPECT_THAT(waits, is_open_by(Obstacle::kClockSaysSlower));
}

TEST(Judge, SaysHowMuchIsRuledOut) {
  const auto ruled_out = [](double factor) {
    return judge_times(kQuiet, scaled(kQuiet, factor)).estimates.ruled_out;
  };
  EXPECT_GT(ruled_out(1.01), 0.0100);
  EXPECT_LT(ruled_out(1.01), 0.0120);
  EXPECT_EQ(ruled_out(0.9), 0) << "faster for certain";
  const auto noisy = test_series("a", {1000, 1050, 950, 1020, 980});
  EXPECT_GT(judge_one(noisy, noisy).estimates.ruled_out, 0.04);
  EXPECT_TRUE(std::isnan(judge_one(noisy, test_series("a", {1000})).estimates.ruled_out));
  Rule surer;
  surer.false_discovery_rate = 0.0001;
  EXPECT_GT(judge_one(noisy, noisy, surer).estimates.ruled_out,
            judge_one(noisy, noisy).estimates.ruled_out);
  EXPECT_EQ(
      judge_one(doing(noisy, "0f"), doing(test_series("a", {2000}), "0f")).estimates.ruled_out, 0);
}

TEST(Judge, CyclesAloneAreNoRegression) {
  const Verdict verdict = judge_one(test_series("a", kQuiet, 2), test_series("a", kQuiet, 2.1));
  EXPECT_EQ(verdict.kind, VerdictKind::kUnchanged);
}

TEST(Judge, WithoutCyclesTimeDecides) {
  const auto baseline = test_series("a", kQuiet);
  const Verdict verdict = judge_one(baseline, test_series("a", scaled(kQuiet, 1.05), 0));
  EXPECT_EQ(verdict.kind, VerdictKind::kRegression);
  EXPECT_TRUE(std::isnan(verdict.estimates.in_cycles));
}

TEST(Judge, NewMissingAndInvalid) {
  BenchmarkSeries flaky = test_series("broken", kQuiet);  // in one process of five
  flaky.failure = "wrong results";
  const auto verdicts =
      judge(test_run({test_series("gone", kQuiet), test_series("broken", kQuiet),
                      failed_series("was broken", "out of memory")}),
            test_run({flaky, test_series("fresh", kQuiet), test_series("was broken", kQuiet)}), {});
  ASSERT_EQ(verdicts.size(), 4u);
  const Verdict& broken = verdicts[0];
  const Verdict& fresh = verdicts[1];
  const Verdict& gone = verdicts[2];
  const Verdict& was_broken = verdicts[3];
  EXPECT_EQ(broken.benchmark, "broken");
  EXPECT_EQ(broken.kind, VerdictKind::kInvalid);
  EXPECT_EQ(broken.reason.failure, "wrong results");
  EXPECT_TRUE(broken.reason.failed_in_candidate);
  EXPECT_EQ(fresh.benchmark, "fresh");
  EXPECT_EQ(fresh.kind, VerdictKind::kNew);
  EXPECT_TRUE(std::isnan(fresh.baseline.time_ns));
  EXPECT_NEAR(fresh.candidate.time_ns, 1000, 0.01);
  EXPECT_TRUE(std::isnan(fresh.estimates.in_time));
  EXPECT_TRUE(std::isnan(fresh.estimates.interval.low));
  EXPECT_EQ(gone.benchmark, "gone");
  EXPECT_EQ(gone.kind, VerdictKind::kMissing);
  EXPECT_EQ(gone.candidate.processes, 0);
  EXPECT_EQ(was_broken.kind, VerdictKind::kInvalid);
  EXPECT_EQ(was_broken.reason.failure, "out of memory");
  EXPECT_FALSE(was_broken.reason.failed_in_candidate);
}

TEST(Judge, OneProcessASideDecidesNothing) {
  const auto verdicts = judge(test_run({test_series("a", {1000}), test_series("b", {1000})}),
                              test_run({test_series("a", {2000}), test_series("b", {1000})}), {});
  for (const Verdict& verdict : verdicts) {
    EXPECT_THAT(verdict, is_open_by(Obstacle::kNoSpread));
    EXPECT_TRUE(std::isnan(verdict.estimates.interval.low));
    EXPECT_TRUE(std::isnan(verdict.estimates.smallest_detectable));
    EXPECT_EQ(verdict.estimates.p, 1);
  }
  EXPECT_NEAR(verdicts[0].estimates.in_time, 1, 1e-12);  // reported all the same
}

TEST(Judge, ASingleProcessIsShownAndNotCalled) {
  const Verdict verdict = judge_times(kQuiet, {1500});
  EXPECT_EQ(verdict.kind, VerdictKind::kInconclusive);
  EXPECT_GT(verdict.estimates.interval.low, 0.49);
  EXPECT_EQ(verdict.reason.obstacle, Obstacle::kSingleCandidate);
  EXPECT_EQ(judge_times({1500}, kQuiet).reason.obstacle, Obstacle::kSingleBaseline);
}

TEST(Judge, OneProcessASideBorrowsTheSuitesNoise) {
  std::vector<BenchmarkSeries> baseline{test_series("a", {1000})};
  std::vector<BenchmarkSeries> candidate{test_series("a", {1100})};
  for (const char* name : {"b", "c", "d"}) {
    baseline.push_back(test_series(name, kQuiet));
    candidate.push_back(test_series(name, kQuiet));
  }
  const Verdict verdict = judge(test_run(baseline), test_run(candidate), {}).at(0);
  EXPECT_EQ(verdict.kind, VerdictKind::kInconclusive);
  EXPECT_TRUE(std::isfinite(verdict.estimates.interval.low));
  EXPECT_EQ(verdict.reason.obstacle, Obstacle::kBorrowedNoise);
}

TEST(Judge, IdenticalTimesAreUnchangedAndNotCertain) {
  const Verdict verdict = judge_times({1000, 1000}, {1000, 1000});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnchanged);
  EXPECT_LT(verdict.estimates.interval.low, 0);
  EXPECT_GT(verdict.estimates.interval.high, 0);
  EXPECT_GT(verdict.estimates.smallest_detectable, Rule{}.min_effect);
}

// p of a slowdown beside so many others, of the given machine code or none.
double p_beside(int others, const std::string& name = "other ", const std::string& code = "") {
  std::vector<BenchmarkSeries> left{test_series("a slow one", {1000, 1002, 998})};
  std::vector<BenchmarkSeries> right{test_series("a slow one", {1008, 1012, 1010})};
  for (int i = 0; i < others; ++i) {
    left.push_back(test_series(name + std::to_string(i), {1000, 1002, 998}));
    right.push_back(test_series(name + std::to_string(i), {1001, 999, 1000}));
    left.back().is_control = name.starts_with("control");
    if (code.empty()) continue;
    left.back() = doing(left.back(), code);
    right.back() = doing(right.back(), code);
  }
  return judge(test_run(left), test_run(right), {}).at(0).estimates.p;
}

TEST(Judge, MoreBenchmarksAskForMore) {
  // The same slowdown is ten times as likely to be luck among ten times as many benchmarks.
  EXPECT_NEAR(p_beside(500) / p_beside(50), 10, 5);
}

TEST(Judge, WhatNoChangeCanSlowIsNotInTheFamily) {
  // The noise is known the better for 300 controls, or 300 rows of identical code, but no row more
  // is tested.
  const double among_controls = p_beside(300, "control_");
  EXPECT_NEAR(p_beside(300, "equal ", "0f") / among_controls, 1, 0.01);
  EXPECT_NEAR(p_beside(300) / among_controls, 301, 150);
}

TEST(Judge, ReportsWhatTheLibraryChoseDifferently) {
  BenchmarkSeries baseline = test_series("a", kQuiet);
  BenchmarkSeries candidate = test_series("a", kQuiet);
  baseline.choices = {{"gate_proj", "algo 66"}, {"up_proj", "tuned: candidate 1 of 8, algo 1"}};
  candidate.choices = {
      {"gate_proj", "algo 21"}, {"up_proj", "measured: candidate 2 of 9, algo 1"}, {"gelu", "new"}};
  const Verdict verdict = judge_one(baseline, candidate);
  ASSERT_EQ(verdict.reason.choice_changes.size(), 1u);
  EXPECT_EQ(verdict.reason.choice_changes[0].name, "gate_proj");
  EXPECT_EQ(verdict.reason.choice_changes[0].before, "algo 66");
  EXPECT_EQ(verdict.reason.choice_changes[0].after, "algo 21");
}

TEST(Judge, CarriesTheWarningOfBothSides) {
  BenchmarkSeries baseline = test_series("a", kQuiet);
  BenchmarkSeries candidate = test_series("a", kQuiet);
  baseline.warnings = {Warning::kUnsteady};
  candidate.warnings = {Warning::kShortBatch, Warning::kUnsteady};
  EXPECT_THAT(judge_one(baseline, candidate).warnings,
              ElementsAre(Warning::kUnsteady, Warning::kShortBatch));
}

TEST(Judge, OfEmptyRunsIsNothing) { EXPECT_TRUE(judge({}, {}, {}).empty()); }

// What is called may be less than what is still unchanged.
TEST(Judge, CallsBeyondTheTestedEffectAndElseGoesByTheSmallest) {
  const std::vector<double> still{1000, 1000.05, 999.95, 1000.02, 999.98};
  const auto judged = [&](double factor, const Rule& rule) {
    return judge_times(still, scaled(still, factor), rule).kind;
  };
  const Rule sharper{.min_effect = 0.002, .tested_effect = 0.0005};
  EXPECT_EQ(judged(1.0013, {.min_effect = 0.002}), VerdictKind::kUnchanged);
  EXPECT_EQ(judged(1.0013, sharper), VerdictKind::kRegression);
  EXPECT_EQ(judged(1 / 1.0013, sharper), VerdictKind::kImprovement);
  EXPECT_EQ(judged(1.0002, sharper), VerdictKind::kUnchanged);
}

TEST(Judge, RefusesARuleThatIsNone) {
  for (const Rule& rule :
       {Rule{.min_effect = -0.1}, Rule{.min_effect = std::nan("")}, Rule{.false_discovery_rate = 0},
        Rule{.confidence = 1}, Rule{.min_effect = 0.001, .tested_effect = 0.002},
        Rule{.tested_effect = -0.001}}) {
    EXPECT_THROW(judge({}, {}, rule), InputError);
  }
}

TEST(VerdictName, FollowsTheEnum) {
  EXPECT_EQ(verdict_name(VerdictKind::kRegression), "regression");
  EXPECT_EQ(verdict_name(VerdictKind::kInconclusive), "inconclusive");
  EXPECT_EQ(verdict_name(VerdictKind::kInvalid), "invalid");
  EXPECT_EQ(quantity_name(Quantity::kEqualClock), "equal_clock");
}

// The candidate's last processes were added because the first looked slower.
BenchmarkSeries extended_series(const std::vector<double>& times, double first, double fresh) {
  BenchmarkSeries series = test_series("a", scaled(times, first));
  for (ProcessSummary summary : test_series("a", scaled(times, fresh)).processes) {
    summary.extension = true;
    series.processes.push_back(summary);
  }
  return series;
}

BenchmarkSeries extended_series(double first, double fresh) {
  return extended_series(kQuiet, first, fresh);
}

TEST(Judge, OfFewProcessesAChangeMustBeConfirmed) {
  const std::vector<double> three{1000, 1000.5, 999.5};
  const auto baseline = test_series("a", kQuiet);
  const Verdict slower = judge_times(kQuiet, scaled(three, 1.05));
  EXPECT_THAT(slower, is_open_by(Obstacle::kFewProcesses));
  EXPECT_EQ(slower.candidate.compared, 3);
  EXPECT_EQ(slower.baseline.compared, 5);
  auto extended = test_series("a", scaled(three, 1.05));
  extended.processes[2].extension = true;
  EXPECT_EQ(judge_one(baseline, extended).reason.obstacle, Obstacle::kFewProcesses)
      << "one does not confirm it";
  extended.processes[1].extension = true;
  EXPECT_EQ(judge_one(baseline, extended).kind, VerdictKind::kRegression);
  EXPECT_EQ(judge_times(three, three).kind, VerdictKind::kUnchanged) << "nothing is called";
}

// It differs, though not beyond what is asked of all controls together.
TEST(Judge, AControlIsNoChangeAtFirstSight) {
  const std::vector<double> three{1000, 1004, 996};
  Rule rule;
  rule.false_discovery_rate = 0.05;
  for (const double factor : {1.015, 1 / 1.015}) {
    const Verdict verdict = judge_one(as_control(test_series("control", three)),
                                      test_series("control", scaled(three, factor)), rule);
    EXPECT_FALSE(verdict.reason.machine_moved);
    EXPECT_EQ(verdict.reason.obstacle, Obstacle::kMachineMoved);
    EXPECT_EQ(first_sight(verdict), VerdictKind::kInconclusive);
  }
}

TEST(Judge, FreshProcessesOfTheCandidateConfirmNoFewStoredOnes) {
  for (const std::vector<double>& few :
       {std::vector<double>{1000, 1000.5}, {1000, 1000.5, 999.5}}) {
    const Verdict slower = judge_one(test_series("a", few), extended_series(1.05, 1.05));
    EXPECT_THAT(slower, is_open_by(Obstacle::kFewInBaseline));
    EXPECT_EQ(slower.baseline.compared, static_cast<int>(few.size()));
    EXPECT_EQ(first_sight(slower), VerdictKind::kRegression);
  }
  const std::vector<double> few{1000, 1000.5};
  EXPECT_EQ(first_sight(judge_times(scaled(few, 1.05), kQuiet)), VerdictKind::kImprovement);
  EXPECT_EQ(judge_times(few, kQuiet).kind, VerdictKind::kUnchanged);
}

TEST(Judge, BesideFewProcessesFreshOnesOfBothSidesConfirm) {
  const std::vector<double> two{1000, 1000.5};
  const auto beside = [&](const BenchmarkSeries& baseline) {
    return judge_beside(baseline, extended_series(1.05, 1.05));
  };
  EXPECT_EQ(beside(test_series("a", two)).reason.obstacle, Obstacle::kFewProcesses);
  EXPECT_EQ(beside(extended_series(two, 1, 1)).kind, VerdictKind::kRegression);
  BenchmarkSeries one_and_two = extended_series(two, 1, 1);
  one_and_two.processes.erase(one_and_two.processes.begin());
  EXPECT_EQ(beside(one_and_two).kind, VerdictKind::kRegression) << "two are fresh";
}

// Of the candidate's card the baseline has two processes; those of its other cards do not enter.
TEST(Judge, ProcessesOfOtherCardsAreNoneOfThisOne) {
  BenchmarkSeries series = test_series("a", {1000, 1000.5, 1010, 1010.5, 990, 990.5});
  for (std::size_t i = 0; i < series.processes.size(); ++i) {
    series.processes[i].card = static_cast<int>(i / 2);
  }
  auto baseline = on_still_machine(test_run({series}));
  baseline.cards = {"one", "two", "three"};
  auto candidate = on_still_machine(test_run({test_series("a", slowed(0.05))}));
  candidate.cards = {"one"};
  const Verdict verdict = judge(baseline, candidate, {}).at(0);
  EXPECT_EQ(verdict.reason.obstacle, Obstacle::kFewInBaseline);
  EXPECT_EQ(verdict.baseline.compared, 2);
  EXPECT_EQ(verdict.baseline.processes, 6);
}

TEST(Judge, ASlowerModeThatMayBeChanceIsNoRegression) {
  const std::vector<double> lower{1000, 1000.5, 999.5, 1000.2};
  const Verdict verdict = judge_times(lower, {1030, 1000.3, 1030.5, 1029.5});
  EXPECT_THAT(verdict, is_open_by(Obstacle::kSlowerMode));
  ASSERT_TRUE(verdict.reason.modes);
  EXPECT_NEAR(verdict.reason.modes->lower.time_ns, 1000, 1);
  EXPECT_EQ(verdict.reason.modes->lower.baseline, 4);
  EXPECT_EQ(verdict.reason.modes->lower.candidate, 1);
  EXPECT_NEAR(verdict.reason.modes->upper.time_ns, 1030, 1);
  EXPECT_EQ(verdict.reason.modes->upper.baseline, 0);
  EXPECT_EQ(verdict.reason.modes->upper.candidate, 3);
  // All of them slower is no second mode, nor is a single one.
  EXPECT_EQ(judge_times(lower, scaled(lower, 1.03)).kind, VerdictKind::kRegression);
  EXPECT_FALSE(judge_times(lower, {1000, 1000.3, 1000.5, 1029.5}).reason.modes);
}

TEST(Judge, ASlowerModeThatIsTakenMoreOftenIsARegression) {
  const std::vector<double> lower{1000, 1000.5, 999.5, 1000.2, 1000.1, 999.9, 1000.3, 999.8};
  std::vector<double> mixed = lower;
  for (std::size_t i = 0; i < 7; ++i) mixed[i] *= 1.1;
  const Verdict slower = judge_times(lower, mixed);
  EXPECT_EQ(slower.kind, VerdictKind::kRegression);
  EXPECT_TRUE(slower.reason.slower_mode);
  const Verdict faster = judge_times(mixed, lower);
  EXPECT_EQ(faster.kind, VerdictKind::kInconclusive);
  EXPECT_EQ(faster.reason.obstacle, Obstacle::kTwoModes)
      << "the slower one is of the baseline alone";
}

TEST(Judge, ModesOfBothSidesAreComparedLikeWithLike) {
  const std::vector<double> both{1000, 1100, 1000.4, 1100.4, 1000.2};
  const Verdict slower = judge_times(both, scaled(both, 1.01));
  EXPECT_EQ(slower.kind, VerdictKind::kRegression);
  EXPECT_NEAR(slower.estimates.effect, 0.01, 1e-4);
  EXPECT_TRUE(slower.reason.modes);
  const Verdict same = judge_times(both, both);
  EXPECT_EQ(same.reason.obstacle, Obstacle::kTwoModes) << "more may take the upper one";
  EXPECT_GT(same.estimates.ruled_out, 0.09);
}

TEST(Judge, BlocksThatLieInOneClusterAreComparedByBlocks) {
  const std::vector<double> stepped{1000, 1000.4, 1030, 1030.3};
  EXPECT_EQ(judge_times(stepped, stepped).reason.obstacle, Obstacle::kTwoModes);
  const Verdict verdict = judge_beside(test_series("a", stepped), test_series("a", stepped));
  EXPECT_EQ(verdict.kind, VerdictKind::kUnchanged);
  EXPECT_FALSE(verdict.reason.modes);
}

// A suite of benchmarks whose processes differ by 0.8 %, and one whose first five processes were so
// slow, or fast, that all ten together still are.
Verdict judge_odd_start(double first, double fresh, bool marked_as_extension) {
  const std::vector<double> noisy{1000, 1008, 992, 1004, 996};
  std::vector<BenchmarkSeries> baseline{test_series("a", noisy)};
  std::vector<BenchmarkSeries> candidate{extended_series(noisy, first, fresh)};
  for (ProcessSummary& summary : candidate[0].processes) {
    summary.extension = summary.extension && marked_as_extension;
  }
  for (int i = 0; i < 30; ++i) {
    const std::string name = "other" + std::to_string(i);
    baseline.push_back(test_series(name, scaled(noisy, std::pow(1.1, i - 15))));
    candidate.push_back(test_series(name, scaled(noisy, std::pow(1.1, i - 15))));
  }
  return judge(test_run(baseline), test_run(candidate), {}).at(0);
}

TEST(Judge, FreshProcessesMustConfirmAChange) {
  struct Change {
    double factor, first, fresh;
    VerdictKind kind;
  };
  for (const Change& own : {Change{1.02, 1.04, 1.0025, VerdictKind::kRegression},
                            {0.98, 0.96, 0.9975, VerdictKind::kImprovement}}) {
    const Verdict confirmed =
        judge_one(test_series("a", kQuiet), extended_series(own.factor, own.factor));
    EXPECT_EQ(confirmed.kind, own.kind);
    EXPECT_EQ(confirmed.candidate.confirming, 5);
    const Verdict open = judge_odd_start(own.first, own.fresh, true);
    EXPECT_THAT(open, is_open_by(Obstacle::kNotConfirmed));
    EXPECT_EQ(judge_odd_start(own.first, own.fresh, false).kind, own.kind);
  }
}

TEST(Judge, FreshProcessesOfBothSidesAreComparedWithEachOther) {
  // The machine drifted by 3 % before the extension, on both sides alike.
  const Verdict verdict = judge_one(extended_series(1, 1.03), extended_series(1.01, 1.0403));
  EXPECT_EQ(verdict.candidate.confirming, 5);
  EXPECT_NEAR(verdict.estimates.in_time, 0.01, 1e-4);
}

Run in_regime(const char* regime, double factor, double clock_ghz) {
  Run run = on_still_machine(test_run({test_series("a", scaled(kQuiet, factor), clock_ghz)}));
  run.provenance.protocol = {{"regime", regime}};
  return run;
}

TEST(Judge, InTheSustainedRegimeCyclesAloneDecide) {
  // 2 % more cycles at a clock 3 % higher: less time.
  const Verdict slower =
      judge(in_regime("sustained", 1, 2), in_regime("sustained", 1.02 / 1.03, 2 * 1.03), {})[0];
  EXPECT_EQ(slower.kind, VerdictKind::kRegression);
  EXPECT_GT(slower.estimates.interval.low, 0.019);
  EXPECT_EQ(judge(in_regime("burst", 1, 2), in_regime("burst", 1.02 / 1.03, 2 * 1.03), {})[0].kind,
            VerdictKind::kInconclusive);
  // And the clock's fall is no slowdown, nor anything undecided.
  EXPECT_EQ(judge(in_regime("sustained", 1, 2), in_regime("sustained", 1.05, 2 / 1.05), {})[0].kind,
            VerdictKind::kUnchanged);
}

// Two runs of a benchmark whose time goes with the clock by half, so that its effect at equal clock
// is the geometric mean of those in time and in cycles. The rule asks for so much certainty that
// nothing is called, however far the interval lies from zero.
class UndecidedTest : public testing::Test {
 protected:
  UndecidedTest() { rule_.false_discovery_rate = 1e-60; }

  Obstacle obstacle(double time, double cycles) {
    candidate_.benchmarks = {series(1 + time, 2 * (1 + cycles) / (1 + time))};
    candidate_ = on_still_machine(std::move(candidate_));
    const Verdict verdict = judge(baseline_, candidate_, rule_).at(0);
    EXPECT_EQ(verdict.kind, VerdictKind::kInconclusive);
    EXPECT_NEAR(verdict.estimates.clock_share, 0.5, 1e-12);
    return verdict.reason.obstacle;
  }

  static BenchmarkSeries series(double factor, double clock_ghz) {
    BenchmarkSeries series = test_series("a", scaled(kQuiet, factor), clock_ghz);
    for (ProcessSummary& summary : series.processes) {
      summary.clock_fit = {
          .time_squares = 0.25, .clock_squares = 1, .products = -0.5, .degrees_of_freedom = 47};
    }
    return series;
  }

  baselines::Run baseline_ = on_still_machine(test_run({series(1, 2)}));
  baselines::Run candidate_;
  Rule rule_;
};

TEST_F(UndecidedTest, TimeAndCyclesDisagreeOnlyWhereOneOfThemShowsNothing) {
  EXPECT_EQ(obstacle(0.0005, 0.02), Obstacle::kDisagreement);
  EXPECT_EQ(obstacle(-0.0005, -0.02), Obstacle::kDisagreement);
  EXPECT_EQ(obstacle(0.01, 0.01), Obstacle::kNotCertain);
  EXPECT_EQ(obstacle(-0.01, -0.01), Obstacle::kNotCertain);
}

TEST_F(UndecidedTest, NothingDisagreesWhereCyclesAloneDecide) {
  for (baselines::Run* run : {&baseline_, &candidate_})
    run->provenance.protocol = {{"regime", "sustained"}};
  EXPECT_EQ(obstacle(0.0005, 0.02), Obstacle::kNotCertain);
}

TEST_F(UndecidedTest, FasterIsByTheRatioThatSlowerIs) {
  rule_.min_effect = 0.5;  // 1 / 1.5 is 33 % faster
  EXPECT_EQ(obstacle(-0.333, -0.333), Obstacle::kTooWide);
  EXPECT_EQ(obstacle(-0.5, -0.15), Obstacle::kDisagreement);  // -35 % at equal clock
  baseline_.provenance.device_uuid = "GPU-1";
  candidate_.provenance.device_uuid = "GPU-2";
  EXPECT_EQ(obstacle(-0.333, -0.333), Obstacle::kCardsDiffer);
}

// A machine that drifts by percents from block to block, while the candidate is 1 % slower in each.
TEST(Judge, RunsOfOneSessionAreComparedBlockByBlock) {
  const auto drifting = [](double factor, const std::string& session) {
    auto run = test_run({test_series("a", {1000, 1040, 980, 1100, 1020})});
    int block = 0;
    for (ProcessSummary& summary : run.benchmarks[0].processes) {
      summary.block = ++block;
      const double noise = 1 + 1e-4 * (block % 3);
      summary.time_ns *= factor * noise;
      summary.cycles *= factor * noise;
    }
    run.session = session;
    return run;
  };
  EXPECT_EQ(judge(drifting(1, "s"), drifting(1.01, "s"), {})[0].kind, VerdictKind::kRegression);
  EXPECT_EQ(judge(drifting(1, "s"), drifting(1.01, "t"), {})[0].kind, VerdictKind::kInconclusive);
  EXPECT_EQ(judge(drifting(1, ""), drifting(1.01, ""), {})[0].kind, VerdictKind::kInconclusive);
}

}  // namespace
}  // namespace fusegate::baselines
