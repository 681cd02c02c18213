#include "ci/selection/budget.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::doing;
using baselines::test_series;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// "a0" to "a5" have other code, "c0" to "c9" the same. A sample takes 4.65 ms, as on a GPU.
ComparedRuns compared() {
  std::vector<baselines::BenchmarkSeries> before, now;
  for (int i = 0; i < 6; ++i) {
    before.push_back(doing(test_series(fmt::format("a{}", i), {}), "0f"));
    now.push_back(doing(test_series(fmt::format("a{}", i), {}), "1e"));
  }
  for (int i = 0; i < 10; ++i) {
    before.push_back(doing(test_series(fmt::format("c{}", i), {}), "0f"));
    now.push_back(before.back());
  }
  ComparedRuns runs{baselines::test_run(before), baselines::test_run(now)};
  runs.baseline.provenance.protocol = {
      {"samples", 48}, {"layouts", 48}, {"idle_ns", 3000000}, {"batch_ns", 1650000}};
  return runs;
}

BudgetedRun planned(const ComparedRuns& runs, double left_s) {
  return budgeted({runs}, select_benchmarks({runs}, ControlUse::kSideBySide),
                  {.budget_s = 60, .left_s = left_s, .identification_s = 100});
}

double spread_of_a0(const ComparedRuns& runs) {
  return planned(runs, 60).request.benchmarks[0].spread;
}

TEST(Budgeted, KnowsWhatAProcessAndASampleTake) {
  const BudgetedRun run = planned(compared(), 600);
  EXPECT_NEAR(run.request.benchmarks[0].sample_s, 6.2e-3, 1e-6);
  EXPECT_EQ(run.request.process_s, 0.4) << "no more than identifying took";
  ComparedRuns slow = compared();
  slow.earlier = baselines::test_run({test_series("a0", {1e9, 1.1e9})});
  EXPECT_GT(planned(slow, 600).request.benchmarks[0].sample_s, 1) << "a call is longer";
}

TEST(Budgeted, TakesTheBestKnownSpread) {
  ComparedRuns runs = compared();
  EXPECT_NEAR(spread_of_a0(runs), 0.00094, 1e-9) << "where nothing is known";
  runs.earlier = baselines::test_run({test_series("a1", {1000, 1000 * std::exp(0.02)})});
  EXPECT_NEAR(spread_of_a0(runs), 0.02 / std::sqrt(2), 1e-9) << "as others";
  runs.earlier = baselines::test_run({test_series("a0", {1000, 1000 * std::exp(0.01)})});
  EXPECT_NEAR(spread_of_a0(runs), 0.01 / std::sqrt(2), 1e-9) << "as it did";
  runs.spreads["a0"] = 0.003;
  EXPECT_EQ(spread_of_a0(runs), 0.003) << "as calibrated";
}

TEST(Budgeted, WeighsAsTheBaselinesSuiteSays) {
  ComparedRuns runs = compared();
  runs.baseline.provenance.settings["^a[01]$"].weight = 5;
  runs.candidate.benchmarks.push_back(test_series("new", {}));
  const BudgetedRun run = planned(runs, 45);
  ASSERT_THAT(run.names, SizeIs(7));
  EXPECT_EQ(run.request.benchmarks[0].weight, 5);
  EXPECT_EQ(run.request.benchmarks[2].weight, 1);
  EXPECT_EQ(run.request.benchmarks[6].weight, 0) << "nothing gates what is new";
  EXPECT_THAT(planned(runs, 39.5).measured(), ::testing::IsSupersetOf({"a0", "a1"}));
  EXPECT_THAT(planned(runs, 39.5).left_out(), ::testing::Contains("new"));
}

TEST(Budgeted, TakesDeclaredControlsAsControls) {
  ComparedRuns runs = compared();
  for (int i : {1, 4}) runs.baseline.benchmarks[i].is_control = true;
  const BudgetedRun run = planned(runs, 600);
  EXPECT_THAT(run.names, ElementsAre("a0", "a2", "a3", "a5"));
  EXPECT_THAT(run.controls, SizeIs(8));
  EXPECT_EQ(run.controls[1], "a4") << "also where their code is not known";
}

TEST(Budgeted, SaysWhatItMeasures) {
  EXPECT_EQ(planned(compared(), 600).text(),
            "Budget of 60 s: measuring 6 benchmarks that can have changed, and 6 controls, by 15 "
            "processes of each program with 48 samples each.");
  EXPECT_THAT(planned(compared(), 600).flags(), IsEmpty());
  EXPECT_THAT(planned(compared(), 600).shortage(), IsEmpty());
  const BudgetedRun tight = planned(compared(), 37);
  EXPECT_THAT(tight.flags(), ElementsAre(HasSubstr("--samples="), HasSubstr("--layouts=")));
  EXPECT_THAT(tight.shortage(), IsEmpty());
  EXPECT_THAT(planned(compared(), 10).shortage(),
              HasSubstr("it has room for 3 processes of each program, and 4 are needed"));
  EXPECT_THAT(planned(compared(), 1).shortage(), HasSubstr("too short"));
}

TEST(Budgeted, PlansAgainByWhatARoundTook) {
  const BudgetedRun before = planned(compared(), 45);
  BudgetedRun as_expected = before, slow = before, quick = before;
  const double round = round_s(before.request, before.plan);
  const auto taking = [&](double factor) { return ProcessTimes{.total_s = factor * round / 2}; };
  as_expected.replan(taking(1), 45 - round);
  EXPECT_EQ(as_expected.measured(), before.measured());
  EXPECT_EQ(as_expected.plan.processes, before.plan.processes);
  quick.replan(taking(0.5), 45 - round / 2);
  EXPECT_EQ(quick.measured(), before.measured());
  EXPECT_GT(quick.plan.processes, before.plan.processes);
  slow.replan(taking(1.2), 45 - round * 1.2);
  EXPECT_EQ(slow.flags(), before.flags()) << "what is compared has one protocol";
  EXPECT_THAT(before.flags(), SizeIs(2));
  EXPECT_GE(slow.plan.processes, 4);
  EXPECT_LE(slow.plan.expected_s, 44 - round * 1.2);
}

TEST(Budgeted, LearnsWhereTheTimeGoes) {
  BudgetedRun run = planned(compared(), 600);
  run.replan({.checks_s = 24, .samples_s = 48, .total_s = 80}, 500);
  EXPECT_NEAR(run.request.process_s, 8, 1e-9);
  EXPECT_NEAR(run.request.benchmarks[0].check_s, 2, 1e-9);
  EXPECT_NEAR(run.request.benchmarks[0].sample_s, 48.0 / 12 / 48, 1e-9);
}

}  // namespace
}  // namespace fusegate::ci
