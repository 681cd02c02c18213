#include "ci/claims/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

using enum Answer;
using testing::ElementsAre;

TEST(Answers, AreAllYesOrAnyYes) {
  EXPECT_EQ(all_of({kYes, kYes}), kYes);
  EXPECT_EQ(all_of({kYes, kUnknown}), kUnknown);
  EXPECT_EQ(all_of({kUnknown, kNo}), kNo);
  EXPECT_EQ(all_of({}), kUnknown);
  EXPECT_EQ(any_of({kNo, kNo}), kNo);
  EXPECT_EQ(any_of({kNo, kUnknown}), kUnknown);
  EXPECT_EQ(any_of({kUnknown, kYes}), kYes);
  EXPECT_EQ(any_of({}), kUnknown);
}

Claim claim_of(const std::vector<std::optional<Answer>>& answers) {
  Claim claim;
  for (const auto& answer : answers) claim.findings.push_back({"", answer, {}, "a trace"});
  return claim;
}

TEST(VerdictOf, NeedsAllFindingsThatDecide) {
  EXPECT_EQ(verdict_of(claim_of({kYes, std::nullopt})), Holds::kHolds);
  EXPECT_EQ(verdict_of(claim_of({kYes, kNo, kUnknown})), Holds::kDoesNotHold);
  EXPECT_EQ(verdict_of(claim_of({kYes, kUnknown})), Holds::kCannotBeTold);
  EXPECT_EQ(verdict_of(claim_of({std::nullopt})), Holds::kCannotBeTold);
}

TEST(VerdictOf, NeedsOneWhereOneSuffices) {
  Claim claim = claim_of({kNo, kYes});
  claim.any_suffices = true;
  EXPECT_EQ(verdict_of(claim), Holds::kHolds);
  claim.findings.pop_back();
  EXPECT_EQ(verdict_of(claim), Holds::kDoesNotHold);
}

TEST(MissingOf, NamesOnceWhatUnknownFindingsLack) {
  EXPECT_THAT(missing_of(claim_of({kUnknown, kUnknown, kYes})), ElementsAre("a trace"));
  EXPECT_THAT(missing_of(claim_of({kYes})), ElementsAre());
}

}  // namespace
}  // namespace fusegate::ci
