#include "ci/figures/verdict_groups.h"

#include <gtest/gtest.h>

#include <limits>

namespace fusegate {
namespace {

Verdict verdict(const std::string& name, VerdictKind kind, double effect) {
  Verdict verdict;
  verdict.benchmark = name;
  verdict.kind = kind;
  verdict.effect = verdict.effect_time = effect;
  return verdict;
}

TEST(GroupVerdicts, PutsWhatFailedTheGateFirstAndLargeEffectsBeforeSmall) {
  GateResult result;
  result.verdicts = {verdict("a", VerdictKind::kUnchanged, 0),
                     verdict("b", VerdictKind::kRegression, 0.02),
                     verdict("c", VerdictKind::kRegression, 0.05),
                     verdict("d", VerdictKind::kImprovement, -0.2),
                     verdict("e", VerdictKind::kInvalid, std::numeric_limits<double>::quiet_NaN()),
                     verdict("f", VerdictKind::kImprovement, -0.2)};
  const auto groups = group_verdicts(result);
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].kind, VerdictKind::kRegression);
  EXPECT_EQ(groups[0].verdicts[0]->benchmark, "c");
  EXPECT_EQ(groups[0].verdicts[1]->benchmark, "b");
  EXPECT_EQ(groups[1].kind, VerdictKind::kInvalid);
  EXPECT_EQ(groups[2].verdicts[0]->benchmark, "d");  // ties by name
  EXPECT_EQ(groups[3].kind, VerdictKind::kUnchanged);
}

TEST(GroupTitle, CountsInWords) {
  const Verdict one = verdict("a", VerdictKind::kRegression, 1);
  EXPECT_EQ(group_title({VerdictKind::kRegression, {&one}}), "1 regression");
  EXPECT_EQ(group_title({VerdictKind::kRegression, {&one, &one}}), "2 regressions");
  EXPECT_EQ(group_title({VerdictKind::kUnchanged, {&one, &one}}), "2 unchanged");
}

}  // namespace
}  // namespace fusegate
