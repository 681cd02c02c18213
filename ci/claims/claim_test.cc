#include "ci/claims/claim.h"

#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

using enum Answer;

TEST(Answers, AreAllYesOrAnyYes) {
  EXPECT_EQ(all_of({kYes, kYes}), kYes);
  EXPECT_EQ(all_of({kYes, kUnknown}), kUnknown);
  EXPECT_EQ(all_of({kUnknown, kNo}), kNo);
  EXPECT_EQ(all_of({}), kUnknown);
  EXPECT_EQ(any_of({kNo, kNo}), kNo);
  EXPECT_EQ(any_of({kNo, kUnknown}), kUnknown);
  EXPECT_EQ(any_of({kUnknown, kYes}), kYes);
  EXPECT_EQ(any_of({}), kUnknown);
  EXPECT_EQ(not_of(kYes), kNo);
  EXPECT_EQ(not_of(kUnknown), kUnknown);
}

Claim claim_of(const std::vector<std::optional<Answer>>& answers) {
  Claim claim;
  for (const auto& answer : answers) claim.findings.push_back({"", answer, {}, "a trace"});
  return claim;
}

TEST(VerdictOf, NeedsAllFindingsThatDecide) {
  EXPECT_EQ(verdict_of(claim_of({kYes, std::nullopt})), kYes);
  EXPECT_EQ(verdict_of(claim_of({kYes, kNo, kUnknown})), kNo);
  EXPECT_EQ(verdict_of(claim_of({kYes, kUnknown})), kUnknown);
  EXPECT_EQ(verdict_of(claim_of({std::nullopt})), kUnknown);
}

TEST(VerdictOf, NeedsOneWhereOneSuffices) {
  Claim claim = claim_of({kNo, kYes});
  claim.any_suffices = true;
  EXPECT_EQ(verdict_of(claim), kYes);
  claim.findings.pop_back();
  EXPECT_EQ(verdict_of(claim), kNo);
}

}  // namespace
}  // namespace fusegate::ci
