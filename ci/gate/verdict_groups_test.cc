#include "ci/gate/verdict_groups.h"

#include <gtest/gtest.h>

#include <limits>

namespace fusegate::ci {
namespace {

baselines::Verdict verdict(const std::string& name, baselines::VerdictKind kind, double effect) {
  baselines::Verdict verdict;
  verdict.benchmark = name;
  verdict.kind = kind;
  verdict.effect = verdict.effect_time = effect;
  return verdict;
}

TEST(GroupVerdicts, PutsWhatFailedTheGateFirstAndLargeEffectsBeforeSmall) {
  baselines::GateResult result;
  result.verdicts = {
      verdict("a", baselines::VerdictKind::kUnchanged, 0),
      verdict("b", baselines::VerdictKind::kRegression, 0.02),
      verdict("c", baselines::VerdictKind::kRegression, 0.05),
      verdict("d", baselines::VerdictKind::kImprovement, -0.2),
      verdict("e", baselines::VerdictKind::kInvalid, std::numeric_limits<double>::quiet_NaN()),
      verdict("f", baselines::VerdictKind::kImprovement, -0.2),
      verdict("g", baselines::VerdictKind::kIdentical, 0.3)};
  const auto groups = group_verdicts(result);
  ASSERT_EQ(groups.size(), 5u);
  EXPECT_EQ(groups[0].kind, baselines::VerdictKind::kRegression);
  EXPECT_EQ(groups[0].verdicts[0]->benchmark, "c");
  EXPECT_EQ(groups[0].verdicts[1]->benchmark, "b");
  EXPECT_EQ(groups[1].kind, baselines::VerdictKind::kInvalid);
  EXPECT_EQ(groups[2].verdicts[0]->benchmark, "d");  // ties by name
  EXPECT_EQ(groups[3].kind, baselines::VerdictKind::kUnchanged);
  EXPECT_EQ(groups[4].kind, baselines::VerdictKind::kIdentical);
}

TEST(CountText, CountsInWords) {
  EXPECT_EQ(count_text(1, baselines::VerdictKind::kRegression), "1 regression");
  EXPECT_EQ(count_text(2, baselines::VerdictKind::kRegression), "2 regressions");
  EXPECT_EQ(count_text(4, baselines::VerdictKind::kImprovement), "4 improvements");
  EXPECT_EQ(count_text(2, baselines::VerdictKind::kUnchanged), "2 unchanged");
}

}  // namespace
}  // namespace fusegate::ci
