#include "ci/gate/gate_headline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkSeries;
using baselines::failed_series;
using baselines::GateOptions;
using baselines::GateResult;
using baselines::kQuiet;
using baselines::Run;
using baselines::side_by_side;
using baselines::slowed;
using baselines::test_run;
using baselines::test_series;
using testing::HasSubstr;

std::string headline(const Run& baseline, const Run& candidate, const GateOptions& options = {}) {
  return gate_headline({.options = options, .result = gate(baseline, candidate, options)});
}

std::string headline_of(std::vector<BenchmarkSeries> baseline,
                        std::vector<BenchmarkSeries> candidate, const GateOptions& options = {}) {
  return headline(side_by_side(std::move(baseline)), side_by_side(std::move(candidate)), options);
}

TEST(GateHeadline, NamesTheWorstRegression) {
  EXPECT_EQ(
      headline_of({test_series("a", kQuiet), test_series("b", kQuiet), test_series("c", kQuiet)},
                  {test_series("a", slowed(0.02)), test_series("b", slowed(0.05)),
                   test_series("c", kQuiet)}),
      "2 of 3 benchmarks got slower, the most b by 5.00 %.");
  EXPECT_THAT(
      headline_of(
          {test_series("a", kQuiet), test_series("b", kQuiet), test_series("m", kQuiet)},
          {test_series("a", slowed(0.05)), failed_series("b", "x"), test_series("n", kQuiet)}),
      HasSubstr("; 1 new, 1 missing, 1 invalid."));
}

TEST(GateHeadline, SaysWhatLooksSlowerByTooFewProcesses) {
  const std::vector<double> two{1000, 1000.5};
  EXPECT_EQ(headline_of({test_series("a", kQuiet), test_series("b", kQuiet)},
                        {test_series("a", baselines::scaled(two, 1.05)), test_series("b", kQuiet)}),
            "Could not judge: 1 of 2 benchmarks looks slower, the most a by 5.03 %, in too few "
            "processes to be sure; 1 inconclusive.");
}

TEST(GateHeadline, SaysHowMuchWasDecided) {
  const auto quiet = test_series("a", kQuiet);
  EXPECT_EQ(headline_of({quiet}, {quiet}),
            "No regression in 1 benchmark; slowdowns above 0.5 % are ruled out in all.");
  EXPECT_EQ(headline_of({quiet}, {test_series("a", slowed(-0.05))}),
            "No regression in 1 benchmark; slowdowns above 0.5 % are ruled out in all; 1 "
            "improvement.");
  const auto noisy = test_series("a", {100, 130, 80, 120, 95});
  EXPECT_EQ(
      headline_of({noisy}, {noisy}),
      "Could not judge: slowdowns above 5 % are not ruled out in 1 of 1 benchmark: a (42 %).");
  GateOptions strict;
  strict.strict = true;
  EXPECT_EQ(headline_of({noisy}, {noisy}, strict),
            "Could not judge: with --strict every benchmark must be decided; 1 inconclusive.");
}

using Row = std::pair<baselines::VerdictKind, double>;  // and what is ruled out

GateResult decided(const std::vector<Row>& rows) {
  GateResult result;
  result.causes = {baselines::GateCause::kNoRegression};
  for (const auto& [kind, ruled_out] : rows) {
    baselines::Verdict& verdict = result.verdicts.emplace_back();
    verdict.benchmark = std::string(1, static_cast<char>('a' + result.verdicts.size()));
    verdict.kind = kind;
    verdict.estimates.ruled_out = ruled_out;
  }
  return result;
}

std::string headline_of(const std::vector<Row>& rows) {
  return gate_headline({.result = decided(rows)});
}

TEST(GateHeadline, SaysHowMuchIsRuledOut) {
  using enum baselines::VerdictKind;
  std::vector<Row> rows(19, {kUnchanged, 0.008});
  rows.emplace_back(kUnchanged, 0.013);
  EXPECT_EQ(headline_of(rows),
            "No regression in 20 benchmarks; slowdowns above 1 % are ruled out in 19, above 2 % in "
            "all.");
  rows.emplace_back(kIdentical, 0);
  rows.emplace_back(kInconclusive, 0.3);
  rows.emplace_back(kMissing, std::nan(""));
  EXPECT_EQ(headline_of(rows),
            "No regression in 21 of 23 benchmarks, 1 identical; of the others slowdowns above 1 % "
            "are ruled out in 19, above 50 % in 21; 1 inconclusive, 1 missing.");
  EXPECT_EQ(headline_of({{kUnchanged, 0.7}, {kUnchanged, 0.001}}),
            "No regression in 2 benchmarks; slowdowns above 50 % are ruled out in 1.");
  EXPECT_EQ(headline_of({{kIdentical, 0}, {kIdentical, 0}}),
            "No regression in 2 benchmarks, all identical.");
}

// Of another card's stored baseline; it read "No regression in 2 benchmarks; slowdowns above 0.5 %
// are ruled out in all".
TEST(GateHeadline, CountsAgainstTheWhole) {
  using enum baselines::VerdictKind;
  std::vector<Row> rows(102, {kInconclusive, 0.02});
  rows.resize(104, {kImprovement, 0.001});
  EXPECT_EQ(headline_of(rows),
            "No regression in 2 of 104 benchmarks; slowdowns above 2 % are ruled out in all; 2 "
            "improvements, 102 inconclusive.");
}

TEST(GateHeadline, AllAreThoseThatAChangeCanHaveSlowed) {
  using enum baselines::VerdictKind;
  GateResult result = decided({{kUnchanged, 0.001}, {kInconclusive, 0.02}, {kNew, std::nan("")}});
  result.verdicts[1].is_control = true;
  EXPECT_EQ(gate_headline({.result = result}),
            "No regression in 1 of 3 benchmarks; slowdowns above 0.5 % are ruled out in all; 1 "
            "inconclusive, 1 new.");
}

TEST(GateHeadline, NamesWhereTooLittleIsRuledOut) {
  using enum baselines::VerdictKind;
  GateResult result = decided({{kUnchanged, 0.01},
                               {kUnchanged, 0.03},
                               {kInconclusive, std::nan("")},
                               {kInconclusive, 0.08},
                               {kUnchanged, 0.021}});
  result.causes.push_back(baselines::GateCause::kTooLittleRuledOut);
  GateOptions options;
  options.require_ruled_out = 0.02;
  EXPECT_EQ(gate_headline({.options = options, .result = result}),
            "Could not judge: slowdowns above 2 % are not ruled out in 4 of 5 benchmarks: e (8 %), "
            "c (3 %), f (2.1 %) and 1 more.");
}

TEST(GateHeadline, SaysWhyNothingCouldBeJudged) {
  EXPECT_EQ(headline_of({test_series("a", kQuiet), test_series("b", kQuiet)},
                        {test_series("a", kQuiet), failed_series("b", "wrong results")}),
            "Could not judge: b failed in the candidate: wrong results; 1 invalid.");
  EXPECT_EQ(headline_of({}, {}), "Could not judge: neither run has a benchmark.");
  EXPECT_THAT(headline_of({test_series("a", {1000})}, {test_series("a", {2000})}),
              HasSubstr("no benchmark has two processes on each side"));
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  baseline.environment = {{"driver", "580"}, {"power_limit_w", 700}};
  candidate.environment = {{"driver", "590"}, {"power_limit_w", 600}};
  EXPECT_EQ(headline(baseline, candidate),
            "Could not judge: the environments differ in driver (baseline 580, candidate 590) and "
            "1 more.");
}

TEST(GateHeadline, PutsOtherLaunchesFirst) {
  BenchmarkSeries series = test_series("b", kQuiet);
  series.expectation = {{{"addmm", "1 GEMM", "nvjet, bias_add", false}}};
  EXPECT_EQ(
      headline_of({test_series("b", kQuiet)}, {series}),
      "1 benchmark does not launch what it declares, such as b. No regression in 1 benchmark; "
      "slowdowns above 0.5 % are ruled out in all.");
}

TEST(GateHeadline, SaysWhatTakesMoreMemory) {
  BenchmarkSeries before = test_series("b", kQuiet), after = before;
  before.counters["memory_bytes"] = 1e9;
  after.counters["memory_bytes"] = 1.5e9;
  EXPECT_EQ(headline_of({before}, {after}),
            "1 benchmark takes more memory, the most b: 1.500 GB after 1.000 GB. No regression in "
            "1 benchmark; slowdowns above 0.5 % are ruled out in all.");
}

TEST(GateHeadline, NamesTheFirstOtherKernel) {
  GateOptions options;
  options.fail_on_changed_kernels = true;
  EXPECT_EQ(headline_of({test_series("b", kQuiet)}, {test_series("b", kQuiet)}, options),
            "Could not judge: a run has no profiles, so whether kernels changed is not known.");
  baselines::KernelDiff diff;
  diff.benchmark = "b";
  diff.kind = baselines::KernelCause::kLaunches;
  diff.has_profiles = true;
  diff.verdict = baselines::VerdictKind::kUnchanged;
  diff.memory_operations = {0, 1};
  GateResult result;
  result.causes = {baselines::GateCause::kNoRegression, baselines::GateCause::kOtherKernels};
  result.verdicts.resize(2);
  result.kernel_diffs = {diff};
  EXPECT_EQ(gate_headline({.options = options, .result = result}),
            "Kernels changed in 1 of 2 benchmarks, the first b: 1 memory operation more (0 -> 1); "
            "time is unchanged.");
}

}  // namespace
}  // namespace fusegate::ci
