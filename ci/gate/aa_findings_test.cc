#include "ci/gate/aa_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::kQuiet;
using baselines::test_run;
using baselines::test_series;
using ::testing::ElementsAre;

const std::vector<double> kSlower = baselines::slowed(0.1);

TEST(CompareAa, CountsEveryCallAsAFalseAlarm) {
  const AaFindings findings = compare_aa(
      baselines::on_still_machine(test_run(
          {test_series("a", kQuiet), test_series("b", kQuiet), test_series("c", kSlower)})),
      baselines::on_still_machine(test_run(
          {test_series("a", kQuiet), test_series("b", kSlower), test_series("c", kQuiet)})),
      {});
  EXPECT_EQ(findings.benchmarks, 33);
  EXPECT_THAT(findings.called, ElementsAre("b", "c"));
  EXPECT_EQ(findings.processes_a_side, 5);
}

TEST(CompareAa, LeavesOutWhatCouldNotHaveBeenCalled) {
  const AaFindings findings = compare_aa(
      test_run({test_series("a", kQuiet), test_series("failed", kQuiet),
                test_series("once", {1000}), test_series("alone", kQuiet)}),
      test_run({test_series("a", {1000, 1001, 999}), baselines::failed_series("failed", "wrong"),
                test_series("once", {1500})}),
      {});
  EXPECT_EQ(findings.benchmarks, 1);
  EXPECT_EQ(findings.processes_a_side, 3);
  EXPECT_TRUE(findings.called.empty());
}

TEST(CompareAa, AsksForNoFreshProcesses) {
  const auto half_of = [](double factor) {
    return test_run({test_series("a", baselines::scaled({1000, 1001}, factor))});
  };
  EXPECT_THAT(compare_aa(half_of(1), half_of(1.1), {}).called, ElementsAre("a"));
}

TEST(CompareAa, ReportsWhatIdenticalCodeWouldHide) {
  const auto half_of = [](const std::vector<double>& times) {
    return test_run({baselines::doing(test_series("a", times), "0f")});
  };
  EXPECT_THAT(compare_aa(half_of(kQuiet), half_of(kSlower), {}).called, ElementsAre("a"));
}

TEST(AlarmRateUpperBound, IsThatOfClopperAndPearson) {
  // No alarm: 1 - 0.05^(1/n). One of ten: where (1 - p)^10 + 10 p (1 - p)^9 is 0.05.
  EXPECT_NEAR(alarm_rate_upper_bound(12, 0), 0.2209, 5e-5);
  EXPECT_NEAR(alarm_rate_upper_bound(299, 0), 0.00997, 5e-6);
  EXPECT_NEAR(alarm_rate_upper_bound(10, 1), 0.3942, 5e-5);
  EXPECT_EQ(alarm_rate_upper_bound(3, 3), 1);
  EXPECT_EQ(alarm_rate_upper_bound(0, 0), 1);
}

TEST(AaText, IsOneLine) {
  EXPECT_EQ(aa_text({56, {}, 5, 12, 0}),
            "56 benchmarks, none called; so far 0 of 12 comparisons raised an alarm (95 % upper "
            "bound 22 %)");
  EXPECT_EQ(aa_text({1, {"geglu/x", "geglu/y"}, 5, 1, 1}),
            "1 benchmark, 2 called though nothing changed (the first is geglu/x); so far 1 of 1 "
            "comparison raised an alarm (95 % upper bound 100 %)");
}

TEST(AaJson, IsReadAsItWasWritten) {
  const nlohmann::json json = aa_json({56, {"a", "b"}, 5, 12, 1});
  EXPECT_EQ(json["called"], nlohmann::json({"a", "b"}));
  EXPECT_EQ(aa_json(parse_aa(baselines::JsonField(json, "run.json", "aa"))), json);
}

TEST(Detectability, GivesTheMedianAndTheWorst) {
  std::vector<baselines::Verdict> verdicts(4);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> smallest{0.006, 0.021, nan, 0.005};
  for (std::size_t i = 0; i < 4; ++i) {
    verdicts[i].benchmark = std::string(1, static_cast<char>('a' + i));
    verdicts[i].estimates.smallest_detectable = smallest[i];
  }
  EXPECT_EQ(detectability_text(verdicts),
            "smallest detectable effect 0.6 % in the median, 2.1 % at worst (b)");
  EXPECT_EQ(detectability_json(verdicts)["worst_benchmark"], "b");
  for (baselines::Verdict& verdict : verdicts) verdict.estimates.smallest_detectable = infinity;
  EXPECT_EQ(detectability_text(verdicts), "");
  EXPECT_TRUE(detectability_json({}).is_null());
}

}  // namespace
}  // namespace fusegate::ci
