#include "baselines/gating/gate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<double> kNoisy{1000, 1050, 950, 1020, 980};

BenchmarkSeries quiet(const std::string& name) { return test_series(name, kQuiet); }

BenchmarkSeries slow(const std::string& name, double share) {
  return test_series(name, slowed(share));
}

GateResult gate_of_series(std::vector<BenchmarkSeries> baseline,
                          std::vector<BenchmarkSeries> candidate, const GateOptions& options = {}) {
  return gate(on_still_machine(test_run(std::move(baseline))),
              on_still_machine(test_run(std::move(candidate))), options);
}

template <typename... Causes>
auto ends(ExitCode exit_code, Causes... causes) {
  return testing::AllOf(testing::Field("exit_code", &GateResult::exit_code, exit_code),
                        testing::Field("causes", &GateResult::causes, ElementsAre(causes...)));
}

TEST(Gate, PassesUnchangedCode) {
  const GateResult result = gate_of_series({quiet("a")}, {quiet("a")});
  EXPECT_THAT(result, ends(ExitCode::kNoRegression, GateCause::kNoRegression));
  EXPECT_EQ(result.verdicts.size(), 31u) << "with those beside";
}

TEST(Gate, FailsOnARegression) {
  EXPECT_THAT(gate_of_series({quiet("a"), quiet("b"), quiet("c")},
                             {slow("a", 0.02), slow("b", 0.05), quiet("c")}),
              ends(ExitCode::kRegression, GateCause::kSlower));
}

BenchmarkSeries launching_otherwise(const std::string& name) {
  BenchmarkSeries series = quiet(name);
  series.expectation = {{{"addmm", "1 GEMM", "nvjet, bias_add", false}}};
  return series;
}

TEST(Gate, FailsWhereABenchmarkLaunchesOtherThanDeclared) {
  const GateResult result =
      gate_of_series({quiet("a"), quiet("b")}, {quiet("a"), launching_otherwise("b")});
  EXPECT_THAT(result,
              ends(ExitCode::kRegression, GateCause::kNoRegression, GateCause::kOtherLaunches));
  EXPECT_EQ(result.verdicts.at(1).kind, VerdictKind::kUnchanged) << "its time is another matter";
  ASSERT_EQ(result.unmet_expectations.size(), 1u);
  EXPECT_EQ(result.unmet_expectations[0].benchmark, "b");
}

TEST(Gate, ExpectationsThatAreMetOrTheBaselinesDecideNothing) {
  BenchmarkSeries met = quiet("a");
  met.expectation = {{{"addmm", "1 GEMM", "nvjet", true}}};
  EXPECT_EQ(gate_of_series({launching_otherwise("a")}, {met}).exit_code, ExitCode::kNoRegression);
}

BenchmarkSeries taking(const std::string& name, double memory, double kept = 10) {
  BenchmarkSeries series = quiet(name);
  series.counters["memory_bytes"] = memory;
  series.counters["kept_bytes"] = kept;
  return series;
}

TEST(Gate, FailsWhereABenchmarkTakesMoreMemoryThanIsAllowed) {
  const GateResult result =
      gate_of_series({taking("a", 1000), taking("b", 1000), quiet("c")},
                     {taking("a", 1040), taking("b", 1060, 11), taking("c", 9)});
  EXPECT_THAT(result,
              ends(ExitCode::kRegression, GateCause::kNoRegression, GateCause::kMoreMemory));
  ASSERT_EQ(result.memory_growth.size(), 2u);
  EXPECT_EQ(result.memory_growth[0].benchmark, "b");
  EXPECT_EQ(result.memory_growth[0].candidate, 1060);
  EXPECT_EQ(result.memory_growth[1].counter, "kept_bytes");
}

TEST(Gate, MemoryKeptWhereNoneWasKeptIsMore) {
  EXPECT_EQ(gate_of_series({taking("a", 1000, 0)}, {taking("a", 1000, 1)}).exit_code,
            ExitCode::kRegression);
  EXPECT_EQ(gate_of_series({taking("a", 1000, 1)}, {taking("a", 900, 0)}).exit_code,
            ExitCode::kNoRegression);
}

TEST(Gate, ARegressionOutweighsAllThatCouldNotBeJudged) {
  EXPECT_EQ(gate_of_series({quiet("a"), quiet("b"), quiet("m")},
                           {slow("a", 0.05), failed_series("b", "x"), quiet("n")})
                .exit_code,
            ExitCode::kRegression);
}

TEST(Gate, AnInvalidBenchmarkCannotBeJudged) {
  EXPECT_THAT(
      gate_of_series({quiet("a"), quiet("b")}, {quiet("a"), failed_series("b", "wrong results")}),
      ends(ExitCode::kCouldNotJudge, GateCause::kInvalid));
}

TEST(Gate, AnImprovementPasses) {
  EXPECT_EQ(gate_of_series({quiet("a")}, {slow("a", -0.05)}).exit_code, ExitCode::kNoRegression);
}

TEST(Gate, IdenticalCodeIsDecidedWhateverItsTimes) {
  EXPECT_THAT(gate_of_series({doing(quiet("a"), "0f")}, {doing(slow("a", 0.5), "0f")}),
              ends(ExitCode::kNoRegression, GateCause::kNoRegression));
}

TEST(Gate, WhatLooksSlowerByTooFewProcessesIsNoPass) {
  const std::vector<double> two{1000, 1000.5};
  EXPECT_THAT(
      gate_of_series({quiet("a"), quiet("b")}, {test_series("a", scaled(two, 1.05)), quiet("b")}),
      ends(ExitCode::kCouldNotJudge, GateCause::kUnconfirmed));
  const GateResult faster =
      gate_of_series({quiet("a"), quiet("b")}, {test_series("a", scaled(two, 0.95)), quiet("b")});
  EXPECT_EQ(faster.exit_code, ExitCode::kNoRegression) << "fails nothing";
}

TEST(Gate, WhatFewStoredProcessesSayIsSlowerIsNoPassEither) {
  BenchmarkSeries extended = slow("a", 0.05);
  for (std::size_t i = 2; i < 5; ++i) extended.processes[i].extension = true;
  EXPECT_THAT(
      gate_of_series({test_series("a", {1000, 1000.5, 999.5}), quiet("b")}, {extended, quiet("b")}),
      ends(ExitCode::kCouldNotJudge, GateCause::kUnconfirmed));
}

// Whatever else was decided, identical code and controls among it.
TEST(Gate, WhatMayBeSlowerByMoreThanIsAllowedIsNoPass) {
  const std::vector<double> noisy{100, 130, 80, 120, 95};
  BenchmarkSeries control = quiet("control");
  control.is_control = true;
  const std::vector<BenchmarkSeries> suite{test_series("a", noisy), quiet("b"),
                                           doing(quiet("c"), "0f"), control};
  const GateResult result = gate_of_series(suite, suite);
  EXPECT_THAT(result, ends(ExitCode::kCouldNotJudge, GateCause::kNotRuledOut));
  const auto open = not_ruled_out(result.verdicts, GateOptions{}.allow);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0]->benchmark, "a");
}

// Undecided at the smallest effect, but no slowdown above a percent is left.
TEST(Gate, WhatCannotBeSlowerByMoreThanIsAllowedPassesUndecided) {
  const std::vector<double> close{1000, 1004, 996, 1002, 998};
  GateOptions options;
  options.allow = 0.02;
  const GateResult result =
      gate_of_series({test_series("a", close)}, {test_series("a", close)}, options);
  EXPECT_EQ(result.verdicts[0].kind, VerdictKind::kInconclusive);
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  options.allow = 0.004;
  EXPECT_EQ(gate_of_series({test_series("a", close)}, {test_series("a", close)}, options).exit_code,
            ExitCode::kCouldNotJudge);
}

GateOptions with_settings(Settings settings) {
  GateOptions options;
  options.settings = std::move(settings);
  return options;
}

TEST(Gate, ABenchmarksOwnLimitsStandInForTheSuites) {
  const auto kinds = [](double share, Settings settings) {
    const auto verdicts =
        gate_of_series({quiet("a"), quiet("b")}, {slow("a", share), slow("b", share)},
                       with_settings(std::move(settings)))
            .verdicts;
    return std::pair(verdicts[0].kind, verdicts[1].kind);
  };
  using enum VerdictKind;
  EXPECT_EQ(kinds(0.02, {}), std::pair(kRegression, kRegression));
  EXPECT_EQ(kinds(0.02, {{"^a$", {.min_effect = 0.05}}}), std::pair(kUnchanged, kRegression));
  EXPECT_EQ(kinds(0.001, {{"^a$", {.min_effect = 1e-4}}}), std::pair(kRegression, kInconclusive));
}

TEST(Gate, AFilterJudgesAPartAndTheOthersShowTheMachine) {
  GateOptions options;
  const auto gate_part = [&](const char* filter) {
    options.filter = filter;
    return gate_of_series({quiet("a"), quiet("b"), quiet("gone")}, {slow("a", 0.02), quiet("b")},
                          options);
  };
  const GateResult part = gate_part("^b$");
  EXPECT_THAT(part, ends(ExitCode::kNoRegression, GateCause::kNoRegression));
  ASSERT_EQ(part.verdicts.size(), 1u);
  EXPECT_EQ(part.benchmarks, 33u);
  EXPECT_TRUE(std::isfinite(part.verdicts[0].estimates.machine));
  EXPECT_EQ(gate_part("^a$").exit_code, ExitCode::kRegression);
  EXPECT_LT(gate_part("^a$").verdicts[0].estimates.p, gate_part("").verdicts[0].estimates.p)
      << "tested among fewer";
  options.strict = true;
  EXPECT_EQ(gate_part("^b$").exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(gate_part("^(b|gone)$").exit_code, ExitCode::kCouldNotJudge);
}

TEST(Gate, WhatABenchmarksOwnLimitAllowsMayStayUndecided) {
  const std::vector<double> close{1000, 1004, 996, 1002, 998};
  const auto ends_with = [&](Settings settings) {
    GateOptions options = with_settings(std::move(settings));
    options.allow = 0.004;
    return gate_of_series({test_series("a", close)}, {test_series("a", close)}, options).exit_code;
  };
  EXPECT_EQ(ends_with({}), ExitCode::kCouldNotJudge);
  EXPECT_EQ(ends_with({{"^a$", {.allow = 0.02}}}), ExitCode::kNoRegression);
  EXPECT_EQ(ends_with({{"^b$", {.allow = 0.02}}}), ExitCode::kCouldNotJudge);
  EXPECT_EQ(ends_with({{"^a$", {.min_effect = 0.003}}}), ExitCode::kCouldNotJudge);
}

// A machine or a change may have moved all of them: nothing shows which, and the gate says so. From
// controls that did not move the rule of common movement knows nothing yet.
TEST(Gate, WhatMovedWithItsKindIsNoPass) {
  std::vector<BenchmarkSeries> before, after;
  for (int i = 0; i < 20; ++i) {
    const std::string name = fmt::format("b{:02}", i);
    before.push_back(quiet(name));
    after.push_back(slow(name, 0.05));
  }
  EXPECT_THAT(gate(test_run(before), test_run(after), {}),
              ends(ExitCode::kCouldNotJudge, GateCause::kUnconfirmed));
}

TEST(IsMostlyUndecided, CountsWhatAChangeCanHaveSlowed) {
  using enum VerdictKind;
  const auto is_undecided = [](const std::vector<VerdictKind>& kinds, bool first_is_control) {
    std::vector<Verdict> verdicts(kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) verdicts[i].kind = kinds[i];
    verdicts.front().is_control = first_is_control;
    return is_mostly_undecided(verdicts);
  };
  EXPECT_FALSE(is_undecided({kUnchanged, kInconclusive}, false)) << "half of them";
  EXPECT_TRUE(is_undecided({kUnchanged, kInconclusive, kMissing}, false));
  EXPECT_FALSE(is_undecided({kUnchanged, kInconclusive, kNew}, false));
  EXPECT_TRUE(is_undecided({kInconclusive, kIdentical, kIdentical}, false));
  EXPECT_TRUE(is_undecided({kUnchanged, kInconclusive}, true));
  EXPECT_FALSE(is_undecided({kInconclusive, kUnchanged}, true));
  EXPECT_FALSE(is_undecided({kIdentical, kIdentical}, false));
}

TEST(Gate, MissingAndUndecidedBenchmarksPassUnlessStrict) {
  const std::vector<double> close{1000, 1004, 996, 1002, 998};
  const std::vector<std::pair<std::vector<BenchmarkSeries>, std::vector<BenchmarkSeries>>> cases{
      {{quiet("a"), quiet("m")}, {quiet("a")}},
      {{test_series("a", close), quiet("b")}, {test_series("a", close), quiet("b")}}};
  GateOptions strict;
  strict.strict = true;
  for (const auto& [baseline, candidate] : cases) {
    EXPECT_EQ(gate_of_series(baseline, candidate).exit_code, ExitCode::kNoRegression);
    EXPECT_THAT(gate_of_series(baseline, candidate, strict),
                ends(ExitCode::kCouldNotJudge, GateCause::kUndecided));
  }
  EXPECT_EQ(gate_of_series({quiet("a")}, {quiet("a"), quiet("n")}, strict).exit_code,
            ExitCode::kNoRegression);
}

TEST(Gate, WhatIsLeftOutPassesUnlessStrict) {
  GateOptions strict;
  strict.strict = true;
  const auto whole = side_by_side({quiet("a")});
  auto part = side_by_side({slow("a", 1e-4)});
  part.left_out = {{"b", "3 of 5 processes have it"}};
  auto cut = side_by_side({slow("a", 1e-4)});
  cut.unfinished.cut = {"head/3.json"};
  for (const auto& candidate : {part, cut}) {
    EXPECT_EQ(gate(whole, candidate, {}).exit_code, ExitCode::kNoRegression);
    const GateResult result = gate(whole, candidate, strict);
    EXPECT_THAT(result, ends(ExitCode::kCouldNotJudge, GateCause::kLeftOut));
    ASSERT_EQ(result.left_out.size(), 1u);
    EXPECT_EQ(result.left_out[0].side, "candidate");
  }
  EXPECT_EQ(gate(whole, part, strict).left_out[0].what, "b");
}

TEST(Gate, SaysWhyASideLacksABenchmark) {
  const auto whole = side_by_side({quiet("a"), quiet("b")});
  auto skipping = side_by_side({slow("a", 1e-4)});
  skipping.skipped = {{"b", "needs sm_90"}};
  const Verdict missing = gate(whole, skipping, {}).verdicts.at(1);
  EXPECT_EQ(missing.kind, VerdictKind::kMissing);
  EXPECT_EQ(missing.reason.failure, "the candidate skipped it: needs sm_90");
  const Verdict added = gate(skipping, whole, {}).verdicts.at(1);
  EXPECT_EQ(added.kind, VerdictKind::kNew);
  EXPECT_EQ(added.reason.failure, "the baseline skipped it: needs sm_90");
}

TEST(Gate, AsksForSoMuchToBeRuledOut) {
  GateOptions options;
  options.require_ruled_out = 0.02;
  options.allow = 1;
  EXPECT_EQ(gate_of_series({quiet("a")}, {quiet("a")}, options).exit_code, ExitCode::kNoRegression);
  EXPECT_THAT(
      gate_of_series({quiet("a"), test_series("b", kNoisy), quiet("m")},
                     {quiet("a"), test_series("b", kNoisy), quiet("n")}, options),
      ends(ExitCode::kCouldNotJudge, GateCause::kNoRegression, GateCause::kTooLittleRuledOut));
  EXPECT_EQ(gate_of_series({quiet("a"), test_series("b", kNoisy)},
                           {slow("a", 0.05), test_series("b", kNoisy)}, options)
                .exit_code,
            ExitCode::kRegression)
      << "outweighs it";
  EXPECT_EQ(gate_of_series({doing(test_series("b", kNoisy), "0f")},
                           {doing(test_series("b", kNoisy), "0f")}, options)
                .exit_code,
            ExitCode::kNoRegression);
}

TEST(TooLittleRuledOut, NamesTheWorstFirst) {
  const auto verdict = [](const char* name, VerdictKind kind, double ruled_out) {
    Verdict verdict;
    verdict.benchmark = name;
    verdict.kind = kind;
    verdict.estimates.ruled_out = ruled_out;
    return verdict;
  };
  const std::vector<Verdict> verdicts{verdict("a", VerdictKind::kUnchanged, 0.01),
                                      verdict("b", VerdictKind::kUnchanged, 0.03),
                                      verdict("c", VerdictKind::kInconclusive, std::nan("")),
                                      verdict("d", VerdictKind::kInconclusive, 0.08),
                                      verdict("e", VerdictKind::kRegression, 0.5),
                                      verdict("f", VerdictKind::kNew, std::nan(""))};
  std::vector<std::string> names;
  for (const Verdict* found : too_little_ruled_out(verdicts, 0.02)) {
    names.push_back(found->benchmark);
  }
  EXPECT_THAT(names, ElementsAre("d", "b", "c"));
}

TEST(Gate, NothingInCommonCannotBeJudged) {
  EXPECT_EQ(gate(test_run({quiet("a")}), test_run({quiet("b")}), {}).exit_code,
            ExitCode::kCouldNotJudge);
  EXPECT_EQ(gate(test_run({}), test_run({}), {}).exit_code, ExitCode::kCouldNotJudge);
  EXPECT_THAT(gate(test_run({}), test_run({}), {}).causes, ElementsAre(GateCause::kNoBenchmark));
}

TEST(Gate, OneProcessASideCannotBeJudged) {
  EXPECT_THAT(gate(test_run({test_series("a", {1000})}), test_run({test_series("a", {2000})}), {}),
              ends(ExitCode::kCouldNotJudge, GateCause::kNoProcesses));
  EXPECT_EQ(gate_of_series({quiet("a")}, {test_series("a", {2000})}).exit_code,
            ExitCode::kCouldNotJudge);
}

TEST(Gate, OtherEnvironmentsAreNotComparedUnlessAllowed) {
  auto baseline = test_run({quiet("a")});
  auto candidate = baseline;
  baseline.environment = {{"driver", "580"}, {"power_limit_w", 700}};
  candidate.environment = {{"driver", "590"}, {"power_limit_w", 600}};
  GateOptions options;
  const GateResult refused = gate(baseline, candidate, options);
  EXPECT_EQ(refused.exit_code, ExitCode::kCouldNotJudge);
  EXPECT_THAT(refused.verdicts, IsEmpty());
  EXPECT_EQ(refused.environment_differences.size(), 2u);
  EXPECT_THAT(refused.causes, ElementsAre(GateCause::kEnvironmentDiffers));
  options.allow_environment_differences = true;
  const GateResult allowed = gate(baseline, candidate, options);
  EXPECT_EQ(allowed.exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(allowed.environment_differences.size(), 2u);
}

// A row whose calls take the host so long, in every process a little more or less.
BenchmarkSeries hosted(const std::string& name, double host_ns) {
  BenchmarkSeries series = quiet(name);
  for (std::size_t i = 0; i < series.processes.size(); ++i) {
    series.processes[i].host_ns = host_ns * (1 + 0.01 * static_cast<double>(i % 3));
  }
  return series;
}

TEST(Gate, HostTimesFailWhereAskedToAlone) {
  const auto gated = [](double host_ns, bool fails, double slower = 0) {
    BenchmarkSeries candidate = hosted("a", host_ns);
    for (ProcessSummary& summary : candidate.processes) {
      summary.time_ns *= 1 + slower;
      summary.cycles *= 1 + slower;
    }
    GateOptions options;
    options.fail_on_host = fails;
    return gate_of_series({hosted("a", 9100)}, {candidate}, options);
  };
  const GateResult passed = gated(29200, false);
  EXPECT_THAT(passed, ends(ExitCode::kNoRegression, GateCause::kNoRegression));
  ASSERT_EQ(passed.host.changes.size(), 1u);
  EXPECT_THAT(gated(29200, true),
              ends(ExitCode::kRegression, GateCause::kNoRegression, GateCause::kHostSlower));
  EXPECT_EQ(gated(9500, true).exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(gated(3000, true).exit_code, ExitCode::kNoRegression) << "faster does not fail";
  EXPECT_EQ(gated(9100, true, 0.05).exit_code, ExitCode::kRegression);
  EXPECT_THAT(gated(29200, true, 0.05).causes,
              ElementsAre(GateCause::kSlower, GateCause::kHostSlower));
}

TEST(Gate, CannotJudgeHostTimesThatAreUnknownOrLookLonger) {
  GateOptions options;
  options.fail_on_host = true;
  EXPECT_THAT(gate_of_series({quiet("a")}, {quiet("a")}, options),
              ends(ExitCode::kCouldNotJudge, GateCause::kNoRegression, GateCause::kHostUnknown));
  BenchmarkSeries old = quiet("a");
  old.counters = {{"host_ns", 9100}};
  const GateResult looks = gate_of_series({old}, {hosted("a", 29200)}, options);
  EXPECT_THAT(
      looks, ends(ExitCode::kCouldNotJudge, GateCause::kNoRegression, GateCause::kHostUnconfirmed));
  EXPECT_EQ(gate_of_series({old}, {hosted("a", 9200)}, options).exit_code, ExitCode::kNoRegression);
  auto elsewhere = test_run({hosted("a", 9100)});
  auto here = test_run({hosted("a", 29200)});
  elsewhere.provenance.host = "node-1";
  here.provenance.host = "node-2";
  EXPECT_EQ(gate(elsewhere, here, options).exit_code, ExitCode::kNoRegression);
}

// Another program beside the candidate's last process: all took longer, launching among it.
TEST(Gate, HostTimesAreThoseOfTheProcessesThatCount) {
  std::vector<BenchmarkSeries> before;
  std::vector<BenchmarkSeries> after;
  for (int row = 0; row < 10; ++row) {
    before.push_back(hosted(std::string(1, static_cast<char>('a' + row)), 9100));
    after.push_back(before.back());
    ProcessSummary& last = after.back().processes.back();
    last.time_ns *= 1.2;
    last.host_ns *= 20;
  }
  for (ProcessSummary& summary : after[3].processes) summary.host_ns += 20000;
  auto baseline = test_run(before);
  auto candidate = test_run(after);
  number_processes(baseline);
  number_processes(candidate);
  const GateResult result = gate(baseline, candidate, {});
  ASSERT_EQ(result.outliers_in_candidate.size(), 1u);
  ASSERT_TRUE(result.outliers_in_candidate[0].is_set_aside);
  ASSERT_EQ(result.host.changes.size(), 1u);
  EXPECT_EQ(result.host.changes[0].benchmark, "d");
  EXPECT_EQ(result.host.changes[0].verdict, HostVerdict::kSlower);
  EXPECT_NEAR(result.host.changes[0].candidate_ns, 29200, 200);
}

}  // namespace
}  // namespace fusegate::baselines
