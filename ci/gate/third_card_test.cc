// A stored baseline of two H200s on a third that it does not hold: unchanged code, one kernel that
// takes 2 % longer, and all of ours that take longer, each as they were measured
// (baselines/testdata/pr-runs/README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/gate/judging.h"

namespace fusegate::ci {
namespace {

using baselines::ExitCode;
using baselines::Verdict;
using baselines::VerdictKind;
using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

namespace fs = std::filesystem;

baselines::GateResult judged(const std::string& run) {
  const fs::path runs = fs::path(FUSEGATE_PR_RUNS) / "runs";
  JudgingRequest request;
  request.baseline = {runs / "h200a-0", runs / "h200a-1"};
  request.candidate = {runs / run};
  return judge_candidate(request, baselines::load_run(request.candidate)).value().result;
}

std::vector<std::string> names_of(const baselines::GateResult& result, VerdictKind kind) {
  std::vector<std::string> names;
  for (const Verdict& verdict : result.verdicts) {
    if (verdict.kind == kind) names.push_back(verdict.benchmark);
  }
  return names;
}

TEST(AThirdCard, UnchangedCodePasses) {
  const auto result = judged("same");
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  EXPECT_THAT(names_of(result, VerdictKind::kRegression), IsEmpty());
  EXPECT_THAT(names_of(result, VerdictKind::kIdentical), SizeIs(100));
}

TEST(AThirdCard, AKernelSlowedByTwoPercentFailsWithItsBenchmarksAndNoOther) {
  const auto result = judged("slow");
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  const auto slower = names_of(result, VerdictKind::kRegression);
  EXPECT_GE(slower.size(), 4u);
  EXPECT_THAT(slower, Each(StartsWith("geglu/fused/")));
}

// What they and fourteen benchmarks of other code share is not the machine's.
TEST(AThirdCard, AllOfOurKernelsSlowedFail) {
  const auto result = judged("all");
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_GE(names_of(result, VerdictKind::kRegression).size(), 25u);
}

}  // namespace
}  // namespace fusegate::ci
