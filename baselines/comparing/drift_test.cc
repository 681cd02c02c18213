#include "baselines/comparing/drift.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/comparing/judge.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

// A suite whose control got slower by one factor and whose kernel by another.
std::vector<Verdict> judged(double control, double kernel, double control_clock = 2) {
  return judge(
      side_by_side({as_control(test_series("copy/memcpy", kQuiet)), test_series("kernel", kQuiet)}),
      side_by_side({test_series("copy/memcpy", scaled(kQuiet, control), control_clock),
                    test_series("kernel", scaled(kQuiet, kernel))}),
      {});
}

TEST(Drift, ABaselineSaysWhatIsAControl) {
  EXPECT_EQ(judged(1.5, 1)[0].kind, VerdictKind::kInconclusive);
  const fusegate::baselines::Run baseline = test_run({test_series("controlnet/forward", kQuiet)});
  fusegate::baselines::Run candidate =
      test_run({test_series("controlnet/forward", scaled(kQuiet, 1.5))});
  EXPECT_EQ(judge(baseline, candidate, {}).at(0).kind, VerdictKind::kRegression)
      << "a name makes none";
  candidate.benchmarks[0].is_control = true;
  const Verdict verdict = judge(baseline, candidate, {}).at(0);
  EXPECT_EQ(verdict.kind, VerdictKind::kRegression) << "nor does the candidate alone";
  EXPECT_FALSE(verdict.is_control);
}

TEST(Drift, AKernelSlowerThanAQuietMachineIsARegression) {
  const auto verdicts = judged(1, 1.01);
  EXPECT_TRUE(verdicts[0].is_control);
  EXPECT_FALSE(verdicts[0].reason.machine_moved);
  EXPECT_EQ(verdicts[0].kind, VerdictKind::kUnchanged);
  EXPECT_EQ(verdicts[1].kind, VerdictKind::kRegression);
  EXPECT_FALSE(verdicts[1].is_control);
}

TEST(Drift, AKernelIsHeldAgainstTheMachine) {
  const auto as_slow = judged(1.02, 1.02);
  EXPECT_TRUE(as_slow[0].reason.machine_moved);
  EXPECT_EQ(as_slow[0].reason.obstacle, Obstacle::kMachineMoved);
  EXPECT_EQ(as_slow[1].kind, VerdictKind::kInconclusive);
  EXPECT_EQ(judged(1.02, 1.03)[1].kind, VerdictKind::kRegression);
  EXPECT_EQ(judged(0.98, 0.98)[1].kind, VerdictKind::kInconclusive);
  EXPECT_EQ(judged(0.98, 0.96)[1].kind, VerdictKind::kImprovement);
  // The control took 2 % longer at a clock 2 % lower: no more cycles.
  const auto slower_clock = judged(1.02, 1.01, 2 / 1.02);
  EXPECT_TRUE(slower_clock[0].reason.machine_moved);
  EXPECT_EQ(slower_clock[1].kind, VerdictKind::kInconclusive);
  EXPECT_FALSE(judged(1.0001, 1)[0].reason.machine_moved) << "small noise";
}

TEST(Drift, SaysThatControlsMovedAsMuch) {
  const Verdict verdict = judged(1.0025, 1.0035)[1];
  EXPECT_EQ(verdict.kind, VerdictKind::kInconclusive);
  EXPECT_GT(verdict.estimates.interval.low, Rule{}.min_effect);
  EXPECT_EQ(verdict.reason.obstacle, Obstacle::kControlsMoved);
  EXPECT_NEAR(verdict.estimates.controls, 0.0025, 1e-4);
}

TEST(Drift, AMachineThatGotFasterMayHideASlowdown) {
  EXPECT_LT(judged(1, 1)[1].estimates.ruled_out, 0.003);
  EXPECT_GT(judged(0.98, 1)[1].estimates.ruled_out, 0.02);
}

TEST(Drift, AFewRowsOfIdenticalCodeAreControls) {
  const auto verdicts =
      judge(test_run({doing(test_series("equal", kQuiet), "0f"), test_series("kernel", kQuiet)}),
            test_run({doing(test_series("equal", scaled(kQuiet, 1.02)), "0f"),
                      test_series("kernel", scaled(kQuiet, 1.02))}),
            {});
  EXPECT_EQ(verdicts[0].kind, VerdictKind::kIdentical);
  EXPECT_TRUE(verdicts[0].reason.machine_moved);
  EXPECT_EQ(verdicts[1].kind, VerdictKind::kInconclusive);
}

}  // namespace
}  // namespace fusegate::baselines
