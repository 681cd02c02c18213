#include "ci/selection/budget_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace fusegate::ci {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::IsEmpty;
using testing::Lt;
using testing::SizeIs;

// Four alike, of which a sample takes 6 ms, and six such controls: processes of 6.3 s with all.
BudgetRequest four(double seconds) {
  const BudgetedBenchmark one{.weight = 1, .spread = 1e-3, .sample_s = 6e-3};
  return {.benchmarks = {one, one, one, one},
          .controls = {one, one, one, one, one, one},
          .fewest_controls = 3,
          .process_s = 3.4,
          .seconds = seconds};
}

TEST(ExpectedToRuleOut, IsTheBoundOfTwoMeans) {
  const BudgetedBenchmark one{.spread = 1e-3};
  // The 99 % quantile of Student's t with 6 degrees of freedom is 3.1427.
  EXPECT_NEAR(expected_to_rule_out(one, 4, 48, 48), 3.1427e-3 * std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(expected_to_rule_out(one, 4, 12, 48), 3.1427e-3 * std::sqrt(2), 1e-6)
      << "a quarter of the samples: twice the spread";
  EXPECT_EQ(expected_to_rule_out(one, 1, 48, 48), 1) << "one process rules out nothing";
}

TEST(PlanBudget, MeasuresAllWhereThereIsTime) {
  const BudgetPlan plan = plan_budget(four(600));
  EXPECT_THAT(plan.measured, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(plan.processes, 15);
  EXPECT_EQ(plan.samples, 48);
  EXPECT_EQ(plan.controls, 6u);
  EXPECT_NEAR(plan.expected_s, 15 * 2 * (3.4 + 10 * 48 * 6e-3), 1e-9);
}

TEST(PlanBudget, TakesFewerControlsAndSamplesBeforeItLeavesAnythingOut) {
  const BudgetPlan plan = plan_budget(four(36));
  EXPECT_THAT(plan.measured, SizeIs(4));
  EXPECT_EQ(plan.processes, 4);
  EXPECT_EQ(plan.samples, 24);
  EXPECT_EQ(plan.controls, 3u);
  EXPECT_LT(plan.expected_s, 36);
  BudgetRequest whole = four(44);
  whole.may_thin = false;
  EXPECT_THAT(plan_budget(whole).measured, SizeIs(4));
  EXPECT_EQ(plan_budget(whole).samples, 48);
  EXPECT_LT(plan_budget(whole).controls, 6u);
}

TEST(PlanBudget, LeavesOutWhatWeighsLeastForItsTime) {
  BudgetRequest request = four(32);
  request.benchmarks[1].weight = 3;
  request.benchmarks[2].sample_s = 60e-3;
  request.benchmarks[3].spread = 1;  // nothing can be ruled out in it
  const BudgetPlan plan = plan_budget(request);
  EXPECT_THAT(plan.measured, ElementsAre(0, 1));
  EXPECT_NEAR(plan.ruled_out, 2.0 / 6, 0.01) << "nothing is ruled out in a third of the weight";
  EXPECT_GE(plan.processes, 4);
}

TEST(PlanBudget, RunsMoreProcessesWhereTheseCostLess) {
  BudgetRequest request = four(120);
  const int processes = plan_budget(request).processes;
  request.process_s = 0.5;
  EXPECT_GT(plan_budget(request).processes, processes);
}

TEST(PlanBudget, SaysWhereThereIsNoTimeForAVerdict) {
  const BudgetPlan plan = plan_budget(four(25));
  EXPECT_EQ(plan.processes, 3);
  EXPECT_TRUE(plan.fits);
  const BudgetPlan least = plan_budget(four(5));
  EXPECT_FALSE(least.fits);
  EXPECT_EQ(least.processes, 2);
  EXPECT_THAT(least.measured, ElementsAre(0));
}

TEST(PlanBudget, MeasuresNothingThatDecidesNothing) {
  BudgetRequest request = four(600);
  for (BudgetedBenchmark& one : request.benchmarks) one.weight = 0;
  EXPECT_THAT(plan_budget(request).measured, IsEmpty());
  EXPECT_EQ(plan_budget(request).processes, 0);
  EXPECT_THAT(plan_budget({}).measured, IsEmpty());
}

TEST(PlanBudget, CountsWhatWasMeasuredBefore) {
  BudgetRequest request = four(60);
  request.done = 1;
  const BudgetPlan plan = plan_budget(request);
  EXPECT_THAT(plan.expected_s, Lt(60));
  EXPECT_NEAR(plan.expected_s, (plan.processes - 1) * round_s(request, plan), 1e-9);
  EXPECT_THAT(plan.processes, Gt(plan_budget(four(60)).processes));
}

// Every choice of benchmarks, processes, samples and controls.
double best_of_all(const BudgetRequest& request) {
  double weight = 0, best = 1;
  for (const BudgetedBenchmark& one : request.benchmarks) weight += one.weight;
  const auto sets = std::size_t{1} << request.benchmarks.size();
  for (int processes = 4; processes <= request.most; ++processes) {
    for (int samples = 12; samples <= 48; ++samples) {
      for (std::size_t set = 0; set < sets; ++set) {
        BudgetPlan plan{
            .controls = request.fewest_controls, .processes = processes, .samples = samples};
        double ruled_out = 0;
        for (std::size_t i = 0; i < request.benchmarks.size(); ++i) {
          const BudgetedBenchmark& one = request.benchmarks[i];
          const bool is_measured = (set >> i & 1) != 0;
          if (is_measured) plan.measured.push_back(i);
          ruled_out +=
              one.weight * (is_measured ? expected_to_rule_out(one, processes, samples, 48) : 1);
        }
        if (processes * round_s(request, plan) <= request.seconds) {
          best = std::min(best, ruled_out / weight);
        }
      }
    }
  }
  return best;
}

// Suites of six with costs, weights and spreads of any size, under budgets for a part or for all.
TEST(PlanBudget, ComesNearTheBestOfAllChoices) {
  std::mt19937_64 random(7);
  const auto between = [&](double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<>(0, 1)(random));
  };
  double worst = 0, sum = 0;
  int count = 0;
  for (int suite = 0; suite < 60; ++suite) {
    BudgetRequest request{.fewest_controls = 1, .process_s = between(0.3, 3), .most = 8};
    for (int i = 0; i < 6; ++i) {
      request.benchmarks.push_back({.weight = between(0.2, 5),
                                    .spread = between(3e-4, 3e-3),
                                    .sample_s = between(2e-3, 4e-2)});
    }
    request.controls.assign(3, {.spread = 1e-3, .sample_s = between(2e-3, 1e-2)});
    request.seconds = between(20, 120);
    const BudgetPlan plan = plan_budget(request);
    ASSERT_LE(plan.expected_s, request.seconds);
    if (plan.processes < 4) continue;
    const double regret = plan.ruled_out - best_of_all(request);
    ++count;
    sum += regret;
    worst = std::max(worst, regret);
  }
  EXPECT_GE(count, 40);
  EXPECT_LT(sum / count, 0.001) << "of the weight, in the mean";
  EXPECT_LT(worst, 0.01);
}

}  // namespace
}  // namespace fusegate::ci
